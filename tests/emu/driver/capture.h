/* SPDX-License-Identifier: MIT */
/* What is captured instead of done, and what may not be done meanwhile: the
 * rules of error codes 900 to 908. A call that a capture forbids spoils it. */
#ifndef EMU_DRIVER_CAPTURE_H
#define EMU_DRIVER_CAPTURE_H

#include "objects.h"

namespace emu_driver {

CUresult capture_operation(CUstream stream, operation operation);

/* A stream waits for an event, and one of them is captured. */
CUresult capture_wait(CUstream stream, CUevent event);

/* A call that might break a capture: allowed unless this thread captures, or
 * anybody does so in global mode; the thread's own mode may lift that. */
CUresult check_unsafe_call();

/* The stream may not be captured; if it is, the capture is spoilt. Likewise
 * all streams of a context. */
CUresult check_not_capturing(CUstream stream);
CUresult check_not_capturing(CUcontext context);

/* Work for the legacy stream would wait for blocking streams that are being
 * captured. */
CUresult check_implicit_wait(CUstream stream);
bool would_wait_implicitly(CUstream stream); /* only asks */

CUstreamCaptureMode &capture_mode(); /* of the calling thread */

} // namespace emu_driver

#endif
