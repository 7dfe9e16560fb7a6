/* SPDX-License-Identifier: MIT */
/* The knobs of the fake libnvrtc: dlsym "fake_nvrtc". */
#ifndef FAKE_NVRTC_H
#define FAKE_NVRTC_H

struct fake_nvrtc {
    int major, minor;
    int asked;        /* how often for its version: once an opening */
    int ms;           /* that a compile takes: 20 */
    int begun, compiles; /* so far: begun, ended */
    int result;       /* of the next compiles: an nvrtcResult */
    int hold;         /* 1: compiles that have begun do not end */
    char name[2048];  /* of the program compiled last */
    char options[512]; /* and its options, a line each */
};

extern struct fake_nvrtc fake_nvrtc;

#endif
