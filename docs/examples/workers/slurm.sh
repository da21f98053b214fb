#!/bin/bash
# Workers of a Tiebreak server as an array job of Slurm. The server was started with a folder that the nodes reach:
#
#   TIEBREAK_FOLDER=$HOME/tiebreak-workers sbatch --array=1-20 slurm.sh
#
# or with a NATS server, with a file of credentials that the nodes can read:
#
#   TIEBREAK_NATS=tls://nats.example.org:4222 TIEBREAK_CREDENTIALS=$HOME/workers.nkey sbatch --array=1-20 slurm.sh
#
# whose name, without .nkey, is the name of the workers (TIEBREAK_WORKER, if it is another).
# TIEBREAK_PROGRAM is the program, if it is not on PATH. A worker ends when it had no job for 10 minutes. 60 seconds
# before the time limit it gets SIGTERM, hands its jobs back at their last checkpoint, and ends with status 0. After
# "scontrol requeue" it starts again under the same name.
#SBATCH --job-name=tiebreak-worker
#SBATCH --array=1-4
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem-per-cpu=2G
#SBATCH --time=04:00:00
#SBATCH --signal=B:TERM@60
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=tiebreak-worker-%A-%a.log
set -eu

program=${TIEBREAK_PROGRAM:-tiebreak}
if [ -n "${TIEBREAK_NATS:-}" ]; then
	reach=(--nats "$TIEBREAK_NATS" --credentials "${TIEBREAK_CREDENTIALS:?is the file of credentials for TIEBREAK_NATS}")
	name=${TIEBREAK_WORKER:-$(basename "$TIEBREAK_CREDENTIALS" .nkey)}
else
	reach=(--folder "${TIEBREAK_FOLDER:?is the folder that the server and the workers share}")
	name="slurm-${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}-${SLURM_ARRAY_TASK_ID:-0}"
fi

# The program takes the place of the shell, to which Slurm sends the signal.
exec "$program" worker "${reach[@]}" \
	--name "$name" --slots "${SLURM_CPUS_PER_TASK:-1}" --idle 10m
