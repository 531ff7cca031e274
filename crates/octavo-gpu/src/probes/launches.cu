// Nothing: what is left is the launch.
extern "C" __global__ void empty() {}
