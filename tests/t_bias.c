/* SPDX-License-Identifier: MIT */
/* A bias is aligned as its elements are, and may be missing: for a group, for
 * all, or because the caller does not know of it. */
#include "check_error.h"
#include "fake/fakes.h"

static struct fakes fakes;
static _Alignas(16) unsigned char memory[16];

/* Bindings of plans for two groups; `type` is that of C. */
static void test_type(jitgemm_context *context, jitgemm_type type)
{
    int64_t m[] = {8, 8}, n[] = {128, 128}, k[] = {64, 64};
    const void *in[] = {memory, memory}, *bias[] = {NULL, memory};
    void *out[] = {memory, memory};
    const char *aligned = (char *)memory + (type == JITGEMM_F32 ? 4 : 2);
    jitgemm_problem problem = {.size = sizeof problem,
                               .groups = 2,
                               .m = m,
                               .n = n,
                               .k = k,
                               .c_type = type};
    jitgemm_operands operands = {.size = sizeof operands,
                                 .a = in,
                                 .sfa = in,
                                 .b = in,
                                 .sfb = in,
                                 .c = out};
    jitgemm_plan *plan = NULL;

    CHECK_INT(jitgemm_plan_create(context, &problem, &plan), JITGEMM_OK);
    CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
    operands.bias = bias;
    CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
    bias[1] = aligned;
    CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
    bias[1] = aligned - 1;
    CHECK_ERROR(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_E_ALIGN,
                "operands.bias");
    CHECK_INT(jitgemm_last_error()->group, 1);
    operands.size = offsetof(jitgemm_operands, bias);
    CHECK_INT(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_OK);
    operands.size--;
    CHECK_ERROR(jitgemm_plan_bind(plan, &operands, NULL), JITGEMM_E_VERSION,
                "operands");
    jitgemm_plan_destroy(plan);
}

int main(void)
{
    static const int majors[] = {9, 10};

    fakes = fakes_open();
    for (int i = 0; i < 2; i++) {
        jitgemm_context *context = NULL;

        fakes.cuda->major = majors[i];
        CHECK_INT(jitgemm_context_create(NULL, &context), JITGEMM_OK);
        for (int type = JITGEMM_F16; type <= JITGEMM_F32; type++)
            test_type(context, (jitgemm_type)type);
        jitgemm_context_destroy(context);
    }
    fakes_close(&fakes);
    return test_end();
}
