# Toolchain file: gcc's cross compiler for 64-bit ARM on Linux, its programs run by qemu in user mode, where the variable
# QEMU_CPU names the processor. Libraries are those that Debian puts beside its own (dpkg --add-architecture arm64);
# `scripts/install-deps --arm` installs all of it.
# SPDX-License-Identifier: MIT
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
# pkg-config must not offer the libraries of the machine that compiles.
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
