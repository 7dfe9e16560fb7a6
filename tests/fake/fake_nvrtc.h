/* SPDX-License-Identifier: MIT */
/* The knobs of the fake libnvrtc: dlsym "fake_nvrtc". */
#ifndef FAKE_NVRTC_H
#define FAKE_NVRTC_H

struct fake_nvrtc {
    int major, minor;
    int begun, compiles; /* so far: begun, ended */
    int result;   /* of the next compiles: an nvrtcResult */
    int hold;     /* 1: compiles that have begun do not end */
};

extern struct fake_nvrtc fake_nvrtc;

#endif
