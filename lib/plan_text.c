/* SPDX-License-Identifier: MIT */
/* The model's view of a problem as a table. */
#include "plan_text.h"

#include <string.h>

#include "spec.h"

void jg_plan_text(const struct jg_problem *problem,
                  const struct jg_device *device,
                  const struct jg_config *chosen, struct jg_buf *text)
{
    const struct jg_model *model = jg_model_of(device->family);
    struct jg_device allowed = jg_cut_device(problem, device);

    jg_buf_printf(text,
                  "%s with %d multiprocessors; microseconds by the model\n"
                  "     total    waves   memory     tiles in waves  kernel\n",
                  device->arch, allowed.sms);
    for (int i = 0; i < model->count; i++) {
        struct jg_config config = model->configs[i];
        struct jg_estimate estimate =
            model->estimate(&config, problem, &allowed);
        struct jg_spec spec;

        jg_plan_complete(problem, &config);
        jg_spec_make(&config, device, jg_spec_count(&config) - 1, &spec);
        jg_buf_printf(text, "%c %8.2f %8.2f %8.2f %9lld %8lld  %s\n",
                      memcmp(&config, chosen, sizeof config) ? ' ' : '*',
                      estimate.us, estimate.tiles_us, estimate.memory_us,
                      (long long)estimate.tiles, (long long)estimate.waves,
                      spec.name);
    }
}
