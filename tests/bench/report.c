/* SPDX-License-Identifier: MIT */
/* The table, the file, and the shapes. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpu.h"

void figure_add(struct figure *figure, const struct times *times)
{
    figure->of_run[figure->runs++] = times->median;
    qsort(figure->of_run, (size_t)figure->runs, sizeof *figure->of_run,
          timing_compare);
    figure->low = times->low;
    figure->high = times->high;
    if (figure->runs > 1) {
        figure->low = figure->of_run[0];
        figure->high = figure->of_run[figure->runs - 1];
    }
}

double figure_us(const struct figure *figure)
{
    return figure->of_run[figure->runs / 2];
}

void report_head(void)
{
    printf("%-14s %9s %21s %8s %6s %7s %6s %9s %6s  %s\n", "case", "us",
           "low to high", "TFLOP/s", "TB/s", "limit", "of it", "best peer",
           "times", "which peer; kernel");
}

void report_line(const struct result *result, const struct limits *limits)
{
    const struct gemm_case *c = result->c;
    double us = figure_us(&result->ours), limit = limits_us(limits, c);
    int best = -1;

    for (int i = 0; i < PEERS; i++)
        if (result->peers[i].runs &&
            (best < 0 ||
             figure_us(&result->peers[i]) < figure_us(&result->peers[best])))
            best = i;
    printf("%-14s %9.2f %9.2f to %8.2f %8.1f %6.2f %7.1f %5.0f%% ", c->name,
           us, result->ours.low, result->ours.high, case_flops(c) / us * 1e-6,
           case_bytes(c) / us * 1e-6, limit, 100 * limit / us);
    if (best < 0)
        printf("%9s %6s  -; ", "-", "-");
    else
        printf("%9.2f %6.2f  %s; ", figure_us(&result->peers[best]),
               figure_us(&result->peers[best]) / us, peers[best].name);
    printf("%s\n", result->kernel);
    fflush(stdout);
}

static void write_case(FILE *file, const struct result *result,
                       const struct limits *limits)
{
    const char *comma = "";

    fprintf(file,
            "  {\"case\": \"%s\", \"us\": %.2f, \"low\": %.2f, \"high\": "
            "%.2f, \"limit_us\": %.2f, \"flops\": %.0f, \"bytes\": %.0f,\n"
            "   \"kernel\": \"%s\",\n   \"peers\": {",
            result->c->name, figure_us(&result->ours), result->ours.low,
            result->ours.high, limits_us(limits, result->c),
            case_flops(result->c), case_bytes(result->c), result->kernel);
    for (int i = 0; i < PEERS; i++)
        if (result->peers[i].runs) {
            fprintf(file, "%s\"%s\": %.2f", comma, peers[i].name,
                    figure_us(&result->peers[i]));
            comma = ", ";
        }
    fprintf(file, "}}");
}

bool report_json(const char *path, const struct result *results, int count,
                 const struct limits *limits)
{
    FILE *file = fopen(path, "w");
    time_t now = time(NULL);
    char date[32];
    int driver = 0;
    bool first = true;

    if (!file) {
        perror(path);
        return false;
    }
    GPU(cuDriverGetVersion(&driver));
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(file,
            "{\"device\": \"%s\", \"driver\": \"CUDA %d.%d\", \"cublas\": "
            "%d, \"date\": \"%s\",\n \"rate\": %.4g, \"bandwidth\": %.4g, "
            "\"cases\": [",
            gpu.name, driver / 1000, driver % 1000 / 10, peers_version(), date,
            limits->rate, limits->bandwidth);
    for (int i = 0; i < count; i++)
        if (results[i].ours.runs) {
            fprintf(file, "%s\n", first ? "" : ",");
            write_case(file, &results[i], limits);
            first = false;
        }
    fprintf(file, "\n]}\n");
    return fclose(file) == 0;
}

static bool is_uniform(const struct gemm_case *c)
{
    for (int32_t g = 1; g < c->groups; g++)
        if (c->n[g] != c->n[0] || c->k[g] != c->k[0])
            return false;
    return true;
}

void report_cases(const struct gemm_case *const *list, int count)
{
    const char *before = "[";

    for (int i = 0; i < count; i++) {
        const struct gemm_case *c = list[i];

        if (!is_uniform(c))
            continue;
        printf("%s{\"case\": \"%s\", \"m\": [", before, c->name);
        before = ",\n ";
        for (int32_t g = 0; g < c->groups; g++)
            printf("%s%lld", g ? ", " : "", (long long)c->m[g]);
        printf("], \"n\": %lld, \"k\": %lld}", (long long)c->n[0],
               (long long)c->k[0]);
    }
    puts("]");
}
