# SPDX-License-Identifier: MIT
# The probes of configure.ac, one macro each.

# JG_XXHASH: needs the system's xxhash.h with a frozen XXH3, used header-only.
AC_DEFUN([JG_XXHASH], [
AC_CACHE_CHECK([for xxhash.h 0.8.0 or later], [jg_cv_xxhash],
  [AC_PREPROC_IFELSE([AC_LANG_SOURCE([[
#define XXH_INLINE_ALL
#include <xxhash.h>
#if XXH_VERSION_NUMBER < 800
#error too old
#endif]])], [jg_cv_xxhash=yes], [jg_cv_xxhash=no])])
AS_IF([test $jg_cv_xxhash = no],
  [AC_MSG_ERROR([xxhash.h 0.8.0 or later is needed (Debian: libxxhash-dev)])])
])

# JG_CUDA: finds cuda.h, nvrtc.h and the folder of libnvrtc in a toolkit, or in
# a folder of Python wheels. Sets CUDA_CPPFLAGS, JG_NVRTC_DIR, and with_cuda
# to what finds the same again.
AC_DEFUN([JG_CUDA], [
AC_ARG_VAR([CUDA_HOME], [CUDA toolkit, where --with-cuda names none])
AC_ARG_WITH([cuda],
  [AS_HELP_STRING([--with-cuda=DIR], [toolkit or folder of wheels with cuda.h
    and nvrtc.h @<:@CUDA_HOME, /usr/local/cuda, include path@:>@])],
  [], [with_cuda=yes])
AS_CASE([$with_cuda],
  [yes], [jg_roots="$CUDA_HOME /usr/local/cuda"],
  [no], [AC_MSG_ERROR([the CUDA headers are needed to build])],
  [jg_roots=$with_cuda])
AC_MSG_CHECKING([for cuda.h and nvrtc.h])
for jg_root in $jg_roots; do
  jg_cuda_include=
  jg_nvrtc_include=
  for jg_dir in $jg_root/include $jg_root/targets/*/include \
                $jg_root/nvidia/*/include; do
    jg_dir=`cd "$jg_dir" 2>/dev/null && pwd`
    AS_IF([test -z "$jg_cuda_include" && test -f "$jg_dir/cuda.h"],
      [jg_cuda_include=$jg_dir])
    AS_IF([test -z "$jg_nvrtc_include" && test -f "$jg_dir/nvrtc.h"],
      [jg_nvrtc_include=$jg_dir])
  done
  AS_IF([test -n "$jg_cuda_include" && test -n "$jg_nvrtc_include"], [break])
done
CUDA_CPPFLAGS=
jg_nvrtc_dir=
AS_IF([test -n "$jg_cuda_include" && test -n "$jg_nvrtc_include"], [
  AC_MSG_RESULT([$jg_cuda_include])
  AS_IF([test "$with_cuda" != yes], [with_cuda=`cd $with_cuda && pwd`])
  for jg_dir in "$jg_cuda_include" "$jg_nvrtc_include"; do
    AS_CASE(["$CUDA_CPPFLAGS:$jg_dir"],
      [*"$jg_dir:"*|*:/usr/include], [],
      [CUDA_CPPFLAGS="$CUDA_CPPFLAGS -isystem $jg_dir"])
  done
  for jg_dir in lib64 lib; do
    jg_dir=`dirname "$jg_nvrtc_include"`/$jg_dir
    AS_IF([ls "$jg_dir"/libnvrtc.so* >/dev/null 2>&1],
      [jg_nvrtc_dir=$jg_dir; break])
  done
], [
  AC_MSG_RESULT([in no toolkit folder])
  AS_IF([test "$with_cuda" != yes],
    [AC_MSG_ERROR([no cuda.h and nvrtc.h below $with_cuda])])
])
jg_save_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
AC_CHECK_HEADERS([cuda.h nvrtc.h], [],
  [AC_MSG_ERROR([$ac_header is needed to build; see --with-cuda])])
CPPFLAGS=$jg_save_CPPFLAGS
AC_SUBST([CUDA_CPPFLAGS])
AC_SUBST([with_cuda])
AC_DEFINE_UNQUOTED([JG_NVRTC_DIR], ["$jg_nvrtc_dir"],
  [Folder of the libnvrtc that came with the CUDA headers, or "".])
])

# JG_SANITIZERS: sets SANITIZER_FLAGS, for compiling and linking.
AC_DEFUN([JG_SANITIZERS], [
AC_ARG_ENABLE([sanitizers],
  [AS_HELP_STRING([--enable-sanitizers=LIST],
    [build with -fsanitize=LIST, e.g. address,undefined or thread])],
  [], [enable_sanitizers=no])
SANITIZER_FLAGS=
AS_CASE([$enable_sanitizers],
  [no], [],
  [yes], [AC_MSG_ERROR([--enable-sanitizers needs a list])],
  [SANITIZER_FLAGS="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer"
   SANITIZER_FLAGS="$SANITIZER_FLAGS -fno-sanitize-recover=all"
   jg_save_CFLAGS=$CFLAGS
   CFLAGS="$CFLAGS $SANITIZER_FLAGS"
   AC_MSG_CHECKING([whether $CC links with $SANITIZER_FLAGS])
   AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes])],
     [AC_MSG_RESULT([no])
      AC_MSG_ERROR([the compiler lacks -fsanitize=$enable_sanitizers])])
   CFLAGS=$jg_save_CFLAGS])
AC_SUBST([SANITIZER_FLAGS])
])

# JG_CXX17: tests and an example are in C++; HAVE_CXX17 says whether it works.
AC_DEFUN([JG_CXX17], [
AC_LANG_PUSH([C++])
jg_save_CXXFLAGS=$CXXFLAGS
CXXFLAGS="$CXXFLAGS -std=c++17"
AC_CACHE_CHECK([whether $CXX compiles C++17], [jg_cv_cxx17],
  [AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#include <type_traits>
static_assert(std::is_same_v<int, int>);]])],
    [jg_cv_cxx17=yes], [jg_cv_cxx17=no])])
# Emulated kernels are linked hundreds of times: less than half of the time.
jg_save_LDFLAGS=$LDFLAGS
LDFLAGS="$LDFLAGS -fuse-ld=gold"
AC_CACHE_CHECK([whether $CXX links with gold], [jg_cv_gold],
  [AC_LINK_IFELSE([AC_LANG_PROGRAM()], [jg_cv_gold=yes], [jg_cv_gold=no])])
LDFLAGS=$jg_save_LDFLAGS
AS_IF([test $jg_cv_gold = yes], [EMU_LDFLAGS=-fuse-ld=gold], [EMU_LDFLAGS=])
AC_SUBST([EMU_LDFLAGS])
CXXFLAGS=$jg_save_CXXFLAGS
AC_LANG_POP([C++])
AM_CONDITIONAL([HAVE_CXX17], [test $jg_cv_cxx17 = yes])
])
