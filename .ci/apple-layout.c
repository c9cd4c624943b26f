/*
 * Every struct size, offset and number that gannet-qos takes for granted on Apple systems, against Apple's headers.
 * Compiled, never run:  zig cc -target aarch64-macos -c apple-layout.c
 *
 * What Apple publishes in source only is asserted against a copy of the declaration, with its place in the source:
 * there a mistake in our arithmetic shows, though not a change by Apple.
 */
#include <dlfcn.h>
#include <libproc.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <mach/processor_info.h>
#include <mach/thread_info.h>
#include <pthread.h>
#include <pthread/qos.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/proc_info.h>
#include <sys/qos.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <time.h>

#define IS(what, value) _Static_assert((what) == (value), #what)
#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
/* The function exists and has this type. */
#define FUNCTION(name, ...) _Static_assert(__builtin_types_compatible_p(__typeof__(&name), __VA_ARGS__), #name)

/* sys/qos.h */
IS(QOS_CLASS_USER_INTERACTIVE, 0x21);
IS(QOS_CLASS_USER_INITIATED, 0x19);
IS(QOS_CLASS_DEFAULT, 0x15);
IS(QOS_CLASS_UTILITY, 0x11);
IS(QOS_CLASS_BACKGROUND, 0x09);
IS(QOS_CLASS_UNSPECIFIED, 0x00);
IS(QOS_MIN_RELATIVE_PRIORITY, -15);
IS(sizeof(qos_class_t), 4);

/* pthread/qos.h */
FUNCTION(pthread_set_qos_class_self_np, int (*)(qos_class_t, int));
FUNCTION(pthread_get_qos_class_np, int (*)(pthread_t, qos_class_t *, int *));
FUNCTION(pthread_override_qos_class_start_np, pthread_override_t (*)(pthread_t, qos_class_t, int));
FUNCTION(pthread_override_qos_class_end_np, int (*)(pthread_override_t));
IS(sizeof(pthread_override_t), sizeof(void *));

/* pthread.h */
FUNCTION(pthread_mach_thread_np, mach_port_t (*)(pthread_t));
FUNCTION(pthread_threadid_np, int (*)(pthread_t, uint64_t *));
FUNCTION(pthread_cpu_number_np, int (*)(size_t *));

/* mach/thread_info.h */
IS(THREAD_EXTENDED_INFO, 5);
IS(sizeof(thread_extended_info_data_t), 112);
IS(THREAD_EXTENDED_INFO_COUNT, 28);
AT(thread_extended_info_data_t, pth_curpri, 36);
AT(thread_extended_info_data_t, pth_priority, 40);
AT(thread_extended_info_data_t, pth_maxpriority, 44);

/* mach/processor_info.h: user, system, idle, nice */
IS(PROCESSOR_CPU_LOAD_INFO, 2);
IS(sizeof(processor_cpu_load_info_data_t), 16);
IS(CPU_STATE_USER, 0);
IS(CPU_STATE_SYSTEM, 1);
IS(CPU_STATE_IDLE, 2);
IS(CPU_STATE_NICE, 3);

/* mach/mach_time.h */
IS(sizeof(mach_timebase_info_data_t), 8);
AT(mach_timebase_info_data_t, numer, 0);
AT(mach_timebase_info_data_t, denom, 4);

/* sys/resource.h */
IS(PRIO_DARWIN_PROCESS, 4);
IS(PRIO_DARWIN_BG, 0x1000);
IS(IOPOL_TYPE_DISK, 0);
IS(IOPOL_SCOPE_PROCESS, 0);
IS(IOPOL_DEFAULT, 0);
IS(IOPOL_IMPORTANT, 1);
IS(IOPOL_PASSIVE, 2);
IS(IOPOL_THROTTLE, 3);
IS(IOPOL_UTILITY, 4);
IS(IOPOL_STANDARD, 5);
FUNCTION(setiopolicy_np, int (*)(int, int, int));
FUNCTION(getiopolicy_np, int (*)(int, int));

IS(RUSAGE_INFO_V4, 4);
IS(RUSAGE_INFO_V6, 6);
IS(sizeof(struct rusage_info_v4), 296);
IS(sizeof(struct rusage_info_v6), 464);
#define BOTH(field, offset) AT(struct rusage_info_v4, field, offset); AT(struct rusage_info_v6, field, offset)
BOTH(ri_user_time, 16);
BOTH(ri_system_time, 24);
BOTH(ri_cpu_time_qos_default, 160);
BOTH(ri_cpu_time_qos_maintenance, 168);
BOTH(ri_cpu_time_qos_background, 176);
BOTH(ri_cpu_time_qos_utility, 184);
BOTH(ri_cpu_time_qos_legacy, 192);
BOTH(ri_cpu_time_qos_user_initiated, 200);
BOTH(ri_cpu_time_qos_user_interactive, 208);
BOTH(ri_instructions, 248);
BOTH(ri_cycles, 256);
BOTH(ri_runnable_time, 288);
AT(struct rusage_info_v6, ri_user_ptime, 304);
AT(struct rusage_info_v6, ri_system_ptime, 312);
AT(struct rusage_info_v6, ri_pinstructions, 320);
AT(struct rusage_info_v6, ri_pcycles, 328);
AT(struct rusage_info_v6, ri_energy_nj, 336);
AT(struct rusage_info_v6, ri_penergy_nj, 344);

/* sys/proc_info.h, libproc.h */
IS(PROC_PIDTBSDINFO, 3);
IS(sizeof(struct proc_bsdinfo), 136);
AT(struct proc_bsdinfo, pbi_flags, 0);
FUNCTION(proc_pidinfo, int (*)(int, int, uint64_t, void *, int));
FUNCTION(proc_pid_rusage, int (*)(int, int, rusage_info_t *));

/* mach, sys/sysctl.h, time.h */
FUNCTION(thread_policy_get, kern_return_t (*)(thread_inspect_t, thread_policy_flavor_t, thread_policy_t,
    mach_msg_type_number_t *, boolean_t *));
FUNCTION(thread_info, kern_return_t (*)(thread_inspect_t, thread_flavor_t, thread_info_t, mach_msg_type_number_t *));
FUNCTION(sysctlbyname, int (*)(const char *, void *, size_t *, void *, size_t));
IS(sizeof(thread_policy_flavor_t), 4);
IS(sizeof(integer_t), 4);
IS(KERN_SUCCESS, 0);
IS(CLOCK_THREAD_CPUTIME_ID, 16);

/*
 * Not in the public headers. XNU is Apple's kernel source as published for macOS 15.5 (apple-oss-distributions/xnu).
 *
 *   number or struct                 value        where
 *   THREAD_QOS_POLICY                9            osfmk/mach/thread_policy_private.h
 *   THREAD_QOS_* tiers               1..6         osfmk/mach/thread_policy_private.h
 *   qos_class maintenance            0x05         libpthread sys/qos_private.h
 *   thread_selfcounts(kind, buf, n)               bsd/sys/resource_private.h, libsyscall/wrappers/thread_selfcounts
 *   THSC_TIME_ENERGY_CPI_PER_PERF_LEVEL 6         bsd/sys/resource_private.h
 *   PROC_PIDTHREADCOUNTS             34           bsd/sys/proc_info_private.h
 *   PROC_FLAG_DARWINBG               0x8000       bsd/sys/proc_info_private.h
 *   PROC_FLAG_EXT_DARWINBG           0x10000      bsd/sys/proc_info_private.h
 *   PROC_FLAG_SUPPRESSED             0x800000     bsd/sys/proc_info_private.h
 *   PROC_FLAG_APPLICATION            0x1000000    bsd/sys/proc_info_private.h
 *   base priorities 4 20 31 37 46/47              osfmk/kern/thread_policy.c (thread_qos_policy_params)
 *   taskpolicy -c CLASS                           system_cmds, taskpolicy(8)
 * Public, but in headers that are not at hand here:
 *   notify_register_check, notify_get_state, notify_cancel   notify.h (Libnotify)
 *   IOPSGetTimeRemainingEstimate, -2.0 unlimited              IOKit/ps/IOPowerSources.h
 *   com.apple.system.thermalpressurelevel, levels 0..4       libkern/OSThermalNotification.h (levels asserted below)
 */
struct thsc_time_energy_cpi {
    uint64_t instructions, cycles, user_time_mach, system_time_mach, energy_nj;
};
IS(sizeof(struct thsc_time_energy_cpi), 40);
AT(struct thsc_time_energy_cpi, cycles, 8);
AT(struct thsc_time_energy_cpi, user_time_mach, 16);
AT(struct thsc_time_energy_cpi, system_time_mach, 24);
AT(struct thsc_time_energy_cpi, energy_nj, 32);

struct proc_threadcounts_data {
    uint64_t ptcd_instructions, ptcd_cycles, ptcd_user_time_mach, ptcd_system_time_mach, ptcd_energy_nj;
};
struct proc_threadcounts {
    uint16_t ptc_len, ptc_reserved0;
    uint32_t ptc_reserved1;
    struct proc_threadcounts_data ptc_counts[];
};
IS(sizeof(struct proc_threadcounts_data), 40);
IS(sizeof(struct proc_threadcounts), 8);
AT(struct proc_threadcounts, ptc_counts, 8);

#include <libkern/OSThermalNotification.h>
IS(kOSThermalPressureLevelNominal, 0);
IS(kOSThermalPressureLevelModerate, 1);
IS(kOSThermalPressureLevelHeavy, 2);
IS(kOSThermalPressureLevelTrapping, 3);
IS(kOSThermalPressureLevelSleeping, 4);
