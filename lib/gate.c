/* SPDX-License-Identifier: MIT */
#include "gate.h"

void jg_gate_open(struct jg_gate *gate)
{
    pthread_mutex_init(&gate->lock, NULL);
    pthread_cond_init(&gate->left, NULL);
    gate->inside = 0;
    gate->shut = false;
}

void jg_gate_destroy(struct jg_gate *gate)
{
    pthread_cond_destroy(&gate->left);
    pthread_mutex_destroy(&gate->lock);
}

bool jg_gate_enter(struct jg_gate *gate)
{
    bool entered;

    pthread_mutex_lock(&gate->lock);
    entered = !gate->shut;
    gate->inside += entered;
    pthread_mutex_unlock(&gate->lock);
    return entered;
}

void jg_gate_leave(struct jg_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->inside--;
    pthread_cond_broadcast(&gate->left);
    pthread_mutex_unlock(&gate->lock);
}

void jg_gate_shut(struct jg_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->shut = true;
    while (gate->inside)
        pthread_cond_wait(&gate->left, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

bool jg_gate_is_shut(struct jg_gate *gate)
{
    bool shut;

    pthread_mutex_lock(&gate->lock);
    shut = gate->shut;
    pthread_mutex_unlock(&gate->lock);
    return shut;
}
