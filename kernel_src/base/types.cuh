// SPDX-License-Identifier: MIT
// Short names of the integer types, and arithmetic on sizes.
#pragma once

using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;

template <class T>
constexpr T ceil_div(T a, T b)
{
    return (a + b - 1) / b;
}
