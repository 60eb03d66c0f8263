"""Control groups, version 1 or 2, for one run each."""
import os
import time

from harness import Skip

ROOT = "/sys/fs/cgroup"


def write(path, value):
    with open(path, "w") as file:
        file.write(str(value))


class Group:
    """A group of its own with limits, e.g. Group("pids", max=8). Its `join` is for preexec_fn."""
    numbers = iter(range(1, 1 << 30))

    def __init__(self, controller, **limits):
        self.paths = []
        try:
            self.make(controller, limits)
        except OSError as error:
            self.remove()
            raise Skip(f"no {controller} control group can be made: {error.strerror or error}") from None

    def make(self, controller, limits):
        name = f"phibatch-attack-{os.getpid()}-{next(self.numbers)}"
        if os.path.isdir(f"{ROOT}/{controller}") and not os.path.exists(f"{ROOT}/cgroup.controllers"):
            path, values = f"{ROOT}/{controller}/{name}", version1(controller, limits)
        else:
            controllers = open(f"{ROOT}/cgroup.controllers").read().split()
            if controller not in controllers:
                raise OSError(f"the kernel's controllers are {' '.join(controllers) or 'none'}")
            # Only the root group may have both processes and groups with limits.
            if controller not in open(f"{ROOT}/cgroup.subtree_control").read().split():
                write(f"{ROOT}/cgroup.subtree_control", f"+{controller}")
            path, values = f"{ROOT}/{name}", version2(controller, limits)
        os.mkdir(path)
        self.paths.append(path)
        for file, value in values:
            write(f"{path}/{file}", value)

    def join(self):
        for path in self.paths:
            write(f"{path}/cgroup.procs", os.getpid())

    def remove(self):
        for path in self.paths:
            # A process that has just ended may be in it for an instant more.
            for _ in range(200):
                try:
                    os.rmdir(path)
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)
        self.paths = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def version1(controller, limits):
    if controller == "pids":
        return [("pids.max", limits["max"])]
    if controller == "cpu":
        return [("cpu.cfs_period_us", 100000), ("cpu.cfs_quota_us", int(limits["cores"] * 100000))]
    return [("memory.limit_in_bytes", limits["max"])]


def version2(controller, limits):
    if controller == "pids":
        return [("pids.max", limits["max"])]
    if controller == "cpu":
        return [("cpu.max", f"{int(limits['cores'] * 100000)} 100000")]
    return [("memory.max", limits["max"]), ("memory.swap.max", 0)]
