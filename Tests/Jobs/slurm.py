#!/usr/bin/env python3
"""A Slurm of one node in a folder of its own, as root, with Debian's slurmctld, slurmd and munge: slurm.py FOLDER

Runs what jobs/README.md says of slurm-array.sh in FOLDER, a clone in which `phibatch` is bin/phibatch. One task is told
that its time is up and queued again; one index is then run alone, without its shard.
"""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

# Whoever runs this may have signals blocked, and tasks would inherit that.
signal.pthread_sigmask(signal.SIG_SETMASK, [])
clone = os.path.abspath(sys.argv[1])
home = tempfile.mkdtemp(prefix="phibatch-slurm-")
host = socket.gethostname().split(".")[0]
PATIENCE = 240


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def configuration():
    return f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket,cred_expire=5
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
SlurmctldLogFile={home}/slurmctld.log
SlurmdLogFile={home}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


# Its daemons lie where a user's PATH may not lead.
environment = {
    **os.environ,
    "SLURM_CONF": f"{home}/slurm.conf",
    "PATH": f"{clone}/bin:{os.environ['PATH']}:/usr/sbin",
}


def command(*words):
    done = subprocess.run(words, cwd=clone, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.returncode}: {done.stderr}")
    return done.stdout.strip()


def wait(what, is_so):
    deadline = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > deadline:
            raise RuntimeError(f"no {what}: {command('squeue', '-a')}")
        time.sleep(0.2)


def is_queued(job):
    return job in command("squeue", "-h", "-a", "-o", "%F").split()


def start():
    for name in ("state", "spool"):
        os.mkdir(f"{home}/{name}")
    with open(f"{home}/slurm.conf", "w") as file:
        file.write(configuration())
    with open(f"{home}/munge.key", "wb") as file:
        file.write(os.urandom(1024))
    os.chmod(f"{home}/munge.key", 0o600)
    os.chmod(home, 0o755)
    command("munged", "--force", *(f"--{name}={home}/munge.{end}" for name, end in (
        ("key-file", "key"), ("socket", "socket"), ("pid-file", "pid"), ("log-file", "log"), ("seed-file", "seed"))))
    command("slurmctld")
    command("slurmd")
    wait("node", lambda: command("sinfo", "-h", "-o", "%T").startswith("idle"))


def stop():
    for name in ("slurmd", "slurmctld", "munge"):
        try:
            with open(f"{home}/{name}.pid") as file:
                os.kill(int(file.read()), signal.SIGTERM)
        except (OSError, ValueError):
            pass
    shutil.rmtree(home, ignore_errors=True)


def main():
    # The task that is told so waits until then.
    array = command("sbatch", "--parsable", "jobs/slurm-array.sh")
    merge = command("sbatch", "--parsable", f"--dependency=afterok:{array}", "--kill-on-invalid-dep=yes", "--output=merge.log",
                    "--wrap", "phibatch merge out/demo.jsonl --shards 4")
    wait("task that runs", lambda: os.path.exists(f"{clone}/started"))
    command("scancel", "--batch", "--signal=USR1", f"{array}_2")
    wait("task that is queued again", lambda: os.path.exists(f"{clone}/stopped"))

    # After as long as Slurm takes to forget a job that it has ended: cred_expire.
    wait("second run of the task", lambda: os.path.exists(f"{clone}/out/demo.jsonl.shard-2-of-4"))
    wait("merge", lambda: os.path.exists(f"{clone}/out/demo.jsonl") and not is_queued(merge))
    # An index that is run again is the shard that it was.
    for name in os.listdir(f"{clone}/out"):
        if "shard-3-of-4" in name:
            os.remove(f"{clone}/out/{name}")
    again = command("sbatch", "--parsable", "--array=3", "jobs/slurm-array.sh")
    wait("shard 3", lambda: os.path.exists(f"{clone}/out/demo.jsonl.shard-3-of-4") and not is_queued(again))
    others = [name for name in os.listdir(f"{clone}/out") if ".shard-" in name and "-of-4" not in name]
    if others:
        raise RuntimeError(f"other shards: {others}")


try:
    start()
    main()
finally:
    stop()
print("ok")
