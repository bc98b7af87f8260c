// Marks a function that a kernel calls too. Files of such functions keep to C++17, because nvcc
// compiles kernels so.
#pragma once

#ifdef __CUDACC__
#define LOADERSCOPE_ON_DEVICE __host__ __device__
#else
#define LOADERSCOPE_ON_DEVICE
#endif
