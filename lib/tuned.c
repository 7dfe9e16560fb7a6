/* SPDX-License-Identifier: MIT */
/* A file of measured choices in a cache directory. */
#include "tuned.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

struct name { /* of the device's file */
    char text[48];
};

static struct name name_file(const struct jg_device *device)
{
    struct name name;

    snprintf(name.text, sizeof name.text, "tuning-%s-%d", device->arch,
             device->sms);
    return name;
}

void jg_tuned_open(struct jg_tuned *tuned)
{
    *tuned = (struct jg_tuned){.read = false};
    pthread_mutex_init(&tuned->lock, NULL);
}

void jg_tuned_close(struct jg_tuned *tuned)
{
    jg_tuning_free(&tuned->tuning);
    pthread_mutex_destroy(&tuned->lock);
}

/* With the lock. */
static void read_file(struct jg_tuned *tuned, const struct jg_cache *cache,
                      const struct jg_device *device, const struct jg_log *log)
{
    struct name name = name_file(device);
    void *bytes = NULL;
    size_t size = 0;
    const char *rule;
    int line, error = jg_cache_load(cache, name.text, JG_TUNING_LIMIT, &bytes,
                                    &size);

    tuned->read = true;
    tuned->why[0] = '\0';
    jg_tuning_free(&tuned->tuning);
    if (error) {
        snprintf(tuned->why, sizeof tuned->why, "%s: %s", name.text,
                 jg_file_text(error));
    } else {
        rule = jg_tuning_read((struct jg_span){bytes, size}, device,
                              &tuned->tuning, &line);
        if (rule)
            snprintf(tuned->why, sizeof tuned->why, "%s, line %d: %s",
                     name.text, line, rule);
    }
    free(bytes);
    if (tuned->why[0])
        jg_log(log,
               error == ENOENT ? JITGEMM_LOG_DEBUG : JITGEMM_LOG_WARNING,
               "no tuning: %s", tuned->why);
}

bool jg_tuned_find(struct jg_tuned *tuned, const struct jg_cache *cache,
                   const struct jg_device *device, const struct jg_log *log,
                   struct jg_tuning_entry *entry, char *why, size_t size)
{
    const struct jg_tuning_entry *found;

    pthread_mutex_lock(&tuned->lock);
    if (!tuned->read)
        read_file(tuned, cache, device, log);
    found = jg_tuning_find(&tuned->tuning, entry->class);
    if (found)
        *entry = *found;
    else if (tuned->why[0])
        snprintf(why, size, "%s", tuned->why);
    else
        snprintf(why, size, "%s has no %s", name_file(device).text,
                 entry->class);
    pthread_mutex_unlock(&tuned->lock);
    return found;
}

/* With the lock. Returns 0 or an error. */
static int write_file(const struct jg_tuned *tuned,
                      const struct jg_cache *cache,
                      const struct jg_device *device)
{
    struct jg_buf bytes = {.data = NULL};
    int error = ENOMEM;

    jg_tuning_print(&tuned->tuning, device, &bytes);
    if (!bytes.failed)
        error = jg_cache_save(cache, name_file(device).text, &bytes);
    jg_buf_free(&bytes);
    return error;
}

jitgemm_status jg_tuned_put(struct jg_tuned *tuned,
                            const struct jg_cache *cache,
                            const struct jg_device *device,
                            const struct jg_log *log,
                            const struct jg_tuning_entry *entry)
{
    jitgemm_status status = JITGEMM_OK;
    int error;

    pthread_mutex_lock(&tuned->lock);
    read_file(tuned, cache, device, log);
    if (jg_tuning_put(&tuned->tuning, entry))
        error = write_file(tuned, cache, device);
    else
        error = tuned->tuning.count == JG_TUNING_ENTRIES ? EFBIG : ENOMEM;
    tuned->why[0] = '\0';
    if (error) { /* as the file is */
        tuned->read = false;
        status = jg_fail(error == ENOMEM ? JITGEMM_E_MEMORY : JITGEMM_E_CACHE,
                         "%s cannot be written: %s", name_file(device).text,
                         jg_file_text(error));
        jg_error()->system = error;
    }
    pthread_mutex_unlock(&tuned->lock);
    return status;
}
