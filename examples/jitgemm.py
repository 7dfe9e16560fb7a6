# SPDX-License-Identifier: MIT
"""libjitgemm for Python by ctypes: nothing to build, no dependency.

    import torch, jitgemm
    torch.cuda.synchronize()
    context = jitgemm.Context()
    up = jitgemm.Experts(context, experts=128, n=1536, k=2048, max_rows=8192,
                         c_type=jitgemm.BF16)
    workspace = torch.empty(up.workspace_bytes, dtype=torch.uint8,
                            device="cuda")
    up.run(a=x, sfa=x_scales, b=weights, sfb=weight_scales, c=out,
           alpha=alpha, rows=offsets, workspace=workspace,
           stream=torch.cuda.current_stream().cuda_stream)

What else a layer does is a Conversion: tokens to the order of their experts
and to NVFP4 (gather), SwiGLU, both also without NVFP4 (cast), and what experts
made back to tokens (combine).

A pointer is whatever has a data_ptr() or a __cuda_array_interface__, an
address, or None. Tensors must stay alive, and in place for a captured graph,
as long as the GPU works with them; include/jitgemm.h says what each must hold.
JITGEMM_LIBRARY names the shared object, if it is not where the system looks.
moe_layer.py is a whole layer."""
import ctypes
import os
from ctypes import POINTER, byref, c_char, c_char_p, c_int32, c_int64, \
    c_size_t, c_uint32, c_void_p, sizeof

F16, BF16, F32, E4M3 = 0, 1, 2, 3            # c_type, x_type
NVFP4, INPUT_F16, INPUT_BF16 = 0, 16, 17     # a_type
MXFP4 = 1                                    # b_type, or NVFP4
STACKED, MASKED = 0, 1                       # layout
TIGHT, FLOOR, CEIL, STRIDED, EXPLICIT = range(5)  # place
NO_ACTIVATION, SWIGLU, SWIGLU_INTERLEAVED, SWIGLU_OAI, \
    SWIGLU_OAI_INTERLEAVED = range(5)        # activation
ACCUMULATE, DEPENDENT_LAUNCH, ZERO_TAIL = 2, 4, 8  # flags; a Conversion
# has the second alone
CURRENT_CONTEXT = -1                         # device
E_ARCH = 5                                   # status of an Error
_SIZES_DEVICE = 1
_GATHER, _COMBINE, _CAST = 1, 2, 16


class _Struct(ctypes.Structure):
    """Begins with its size; what is not given is zero."""

    def __init__(self, **fields):
        super().__init__(size=sizeof(type(self)), **fields)


class _ContextOptions(_Struct):
    _fields_ = [("size", c_uint32), ("flags", c_uint32), ("device", c_int32),
                ("log_level", c_int32), ("arch", c_char_p),
                ("cache_dir", c_char_p), ("log", c_void_p),
                ("log_user", c_void_p), ("event", c_void_p),
                ("event_user", c_void_p)]


class _Problem(_Struct):
    _fields_ = [("size", c_uint32), ("flags", c_uint32), ("groups", c_int32),
                ("batch", c_int32), ("m", POINTER(c_int64)),
                ("n", POINTER(c_int64)), ("k", POINTER(c_int64)),
                ("c_type", c_int32), ("a_type", c_int32),
                ("b_type", c_int32), ("sm_limit", c_int32),
                ("sizes", c_int32), ("layout", c_int32), ("place", c_int32),
                ("reserved", c_int32), ("max_rows", c_int64),
                ("hint_rows", c_int64), ("row_a", c_int64),
                ("row_c", c_int64)]


_POINTERS = ("a", "sfa", "b", "sfb", "c", "alpha", "bias", "rows",
             "scale_row")


class _Arguments(_Struct):
    _fields_ = [("size", c_uint32), ("flags", c_uint32)] + \
        [(name, c_void_p) for name in _POINTERS] + \
        [("scale_rows", c_int64), ("stride_b", c_int64),
         ("stride_sfb", c_int64), ("fault", c_void_p),
         ("workspace", c_void_p), ("workspace_bytes", c_size_t)]


class _ConversionOptions(_Struct):
    _fields_ = [("size", c_uint32), ("flags", c_uint32)] + \
        [(name, c_int32) for name in (
            "x_type", "layout", "place", "scale_order", "activation",
            "c_type", "sm_limit")]


_CONVERSION_POINTERS = ("x", "rows", "scale", "scale_row", "values", "scales",
                        "fault", "gather")


class _ConversionArguments(_Struct):
    _fields_ = [("size", c_uint32), ("flags", c_uint32), ("groups", c_int32),
                ("top_k", c_int32), ("k", c_int64), ("max_rows", c_int64),
                ("x", c_void_p), ("ldx", c_int64), ("rows", c_void_p),
                ("scale", c_void_p), ("scale_row", c_void_p),
                ("scale_rows", c_int64), ("values", c_void_p),
                ("scales", c_void_p), ("fault", c_void_p),
                ("gather", c_void_p), ("x_rows", c_int64)]


class _Error(ctypes.Structure):
    _fields_ = [("size", c_uint32), ("status", c_int32), ("cuda", c_int32),
                ("nvrtc", c_int32), ("system", c_int32), ("group", c_int32),
                ("argument", c_char_p), ("got", c_int64), ("want", c_int64),
                ("text", c_char * 1024)]


class Error(RuntimeError):
    """What jitgemm_last_error() says: .status, .argument, .group and text."""

    def __init__(self, last):
        super().__init__(last.text.decode())
        self.status, self.group = last.status, last.group
        self.argument = last.argument.decode() if last.argument else None


_library = ctypes.CDLL(os.environ.get("JITGEMM_LIBRARY", "libjitgemm.so.0"))
_library.jitgemm_last_error.restype = POINTER(_Error)
_library.jitgemm_context_destroy.argtypes = [c_void_p]
_library.jitgemm_context_destroy.restype = None
_library.jitgemm_plan_destroy.argtypes = [c_void_p]
_library.jitgemm_plan_destroy.restype = None
_library.jitgemm_conversion_destroy.argtypes = [c_void_p]
_library.jitgemm_conversion_destroy.restype = None
_library.jitgemm_scale_rows.argtypes = [c_int32, c_int64, c_int32]
_library.jitgemm_scale_rows.restype = c_int64
_library.jitgemm_scale_bytes.argtypes = [c_int64, c_int64]
_library.jitgemm_scale_bytes.restype = c_size_t


def _call(name, *arguments):
    if getattr(_library, name)(*arguments):
        raise Error(_library.jitgemm_last_error().contents)


def _address(tensor):
    if hasattr(tensor, "data_ptr"):
        return tensor.data_ptr()
    if hasattr(tensor, "__cuda_array_interface__"):
        return tensor.__cuda_array_interface__["data"][0]
    return tensor


def _addresses(names, tensors):
    """Addresses of tensors given by name; a name must be one of `names`."""
    for name in tensors:
        if name not in names:
            raise TypeError("unknown: " + name)
    return {name: _address(tensor) for name, tensor in tensors.items()}


def scale_bytes(place, max_rows, groups, k):
    """For the blocked scales of `a`, or of what is quantized; max_rows are of
    all groups together, but with STRIDED of each."""
    return _library.jitgemm_scale_bytes(
        _library.jitgemm_scale_rows(place, max_rows, groups), k)


class Context:
    """A device, a compiler and a cache; by default the CUDA context that is
    current, which is PyTorch's once that has used the GPU."""

    def __init__(self, device=CURRENT_CONTEXT, cache_dir=None):
        options = _ContextOptions(
            device=device,
            cache_dir=None if cache_dir is None else os.fsencode(cache_dir))
        self._handle = c_void_p()
        _call("jitgemm_context_create", byref(options), byref(self._handle))

    def freeze(self):
        """From here on nothing is compiled: what would be is an Error."""
        _call("jitgemm_freeze", self._handle)

    def close(self):
        _library.jitgemm_context_destroy(self._handle)
        self._handle = c_void_p()


class Experts:
    """A product of stacked experts, whose rows device memory counts."""

    def __init__(self, context, experts, n, k, max_rows, layout=STACKED,
                 place=TIGHT, a_type=NVFP4, c_type=F16, hint_rows=0,
                 b_type=NVFP4, sm_limit=0, flags=0, row_a=0, row_c=0):
        problem = _Problem(
            flags=flags, groups=experts, n=(c_int64 * 1)(n),
            k=(c_int64 * 1)(k), c_type=c_type, a_type=a_type,
            sizes=_SIZES_DEVICE, layout=layout,
            place=place if a_type == NVFP4 else 0, sm_limit=sm_limit,
            max_rows=max_rows, hint_rows=hint_rows, b_type=b_type,
            row_a=row_a, row_c=row_c)
        self.context = context  # which must outlive the plan
        self._handle, size = c_void_p(), c_size_t()
        _call("jitgemm_plan_create", context._handle, byref(problem),
              byref(self._handle))
        _call("jitgemm_plan_workspace", self._handle, byref(size))
        self.workspace_bytes = size.value

    def run(self, workspace, stream=0, fault=None, scale_rows=0, stride_b=0,
            stride_sfb=0, **tensors):
        """a, b, sfb, c and, as needed, sfa, alpha, bias, rows, scale_row."""
        arguments = _Arguments(
            scale_rows=scale_rows, stride_b=stride_b, stride_sfb=stride_sfb,
            fault=_address(fault), workspace=_address(workspace),
            workspace_bytes=self.workspace_bytes,
            **_addresses(_POINTERS, tensors))
        _call("jitgemm_run_experts", self._handle, byref(arguments),
              c_void_p(stream))

    def close(self):
        """Runs must have finished."""
        _library.jitgemm_plan_destroy(self._handle)
        self._handle = c_void_p()


class Conversion:
    """Rows to NVFP4 or, with cast, to rows of c_type; scales to the layout
    that products take; or, with combine, weighted sums of rows. One serves all
    sizes."""

    def __init__(self, context, x_type=F16, layout=STACKED, place=TIGHT,
                 linear=False, activation=NO_ACTIVATION, gather=False,
                 combine=False, c_type=F16, sm_limit=0, flags=0, cast=False):
        options = _ConversionOptions(
            flags=(flags | _GATHER * gather | _COMBINE * combine |
                   _CAST * cast),
            x_type=x_type, layout=layout, place=place, scale_order=linear,
            activation=activation, c_type=c_type, sm_limit=sm_limit)
        self.context = context  # which must outlive the conversion
        self._handle = c_void_p()
        _call("jitgemm_conversion_create", context._handle, byref(options),
              byref(self._handle))

    def run(self, k, max_rows, groups=1, top_k=0, ldx=0, scale_rows=0,
            x_rows=0, stream=0, **tensors):
        """x, values and, as needed, scales, rows, scale, scale_row, gather,
        fault."""
        arguments = _ConversionArguments(
            k=k, max_rows=max_rows, groups=groups, top_k=top_k, ldx=ldx,
            scale_rows=scale_rows, x_rows=x_rows,
            **_addresses(_CONVERSION_POINTERS, tensors))
        _call("jitgemm_conversion_run", self._handle, byref(arguments),
              c_void_p(stream))

    def close(self):
        """Runs may still be under way."""
        _library.jitgemm_conversion_destroy(self._handle)
        self._handle = c_void_p()
