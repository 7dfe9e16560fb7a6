/* SPDX-License-Identifier: MIT */
/* A gate that is passed until it is shut, once and for all. */
#ifndef JG_GATE_H
#define JG_GATE_H

#include <pthread.h>
#include <stdbool.h>

struct jg_gate {
    pthread_mutex_t lock;
    pthread_cond_t left;
    int inside;
    bool shut;
};

void jg_gate_open(struct jg_gate *gate);
void jg_gate_destroy(struct jg_gate *gate);

/* False if it is shut. To be left by whoever got in. */
bool jg_gate_enter(struct jg_gate *gate);
void jg_gate_leave(struct jg_gate *gate);

/* Returns when nobody is inside, and nobody will be again. */
void jg_gate_shut(struct jg_gate *gate);
bool jg_gate_is_shut(struct jg_gate *gate);

#endif
