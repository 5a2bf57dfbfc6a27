// count.c: a plugin for QEMU (7.2, plugin interface 1) that counts the instructions each thread of the guest executes. A
// program asks for its thread's count with a system call that Linux does not have; the count goes, as eight bytes, to
// the file descriptor that is the call's first argument. See internal/instructions.
//
// Debian ships no qemu-plugin.h, so the few declarations that are used stand here.
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define ASK 0x74670001
#define THREADS 4096

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum { QEMU_PLUGIN_CB_NO_REGS };

EXPORT int qemu_plugin_version = 1;
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int flags, void *);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, unsigned, int64_t num, uint64_t,
	uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t));

static uint64_t counts[THREADS];

static void block(unsigned cpu, void *instructions)
{
	counts[cpu % THREADS] += (uintptr_t)instructions;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	qemu_plugin_register_vcpu_tb_exec_cb(tb, block, QEMU_PLUGIN_CB_NO_REGS, (void *)qemu_plugin_tb_n_insns(tb));
}

static void called(qemu_plugin_id_t id, unsigned cpu, int64_t num, uint64_t fd, uint64_t b, uint64_t c, uint64_t d,
	uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	if (num == ASK && write((int)fd, &counts[cpu % THREADS], sizeof counts[0]) < 0)
		return; // the program sees that nothing came
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_vcpu_syscall_cb(id, called);
	return 0;
}
