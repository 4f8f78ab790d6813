//! The twins: each kernel's loop on the CPU.
