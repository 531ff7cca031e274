// What the kernels here need of OpenCL, without a device library.
#define GROUP_X __builtin_amdgcn_workgroup_id_x()
#define GROUP_Y __builtin_amdgcn_workgroup_id_y()
#define THREAD_X __builtin_amdgcn_workitem_id_x()
#define THREAD_Y __builtin_amdgcn_workitem_id_y()
#define BARRIER                                         \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                          \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#define KERNEL_2D(x, y) __attribute__((reqd_work_group_size(x, y, 1))) kernel
#define KERNEL(threads) KERNEL_2D(threads, 1)
#define max(a, b) ((a) > (b) ? (a) : (b))
#define min(a, b) ((a) < (b) ? (a) : (b))
#define EXP(x) __builtin_exp2f((x) * 1.44269504f)
#define LOG(x) (__builtin_log2f(x) * 0.69314718f)
#define COS(x) __builtin_amdgcn_cosf((x) * 0.15915494f)
#define SIN(x) __builtin_amdgcn_sinf((x) * 0.15915494f)
