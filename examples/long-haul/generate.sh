#!/bin/sh
# Prints the flow of this example: so many stages in a row, each with three nodes that work side
# by side and one that waits for them.
#
#   sh examples/long-haul/generate.sh 75 > examples/long-haul/flow.yaml
set -eu

stages=${1:-75}

cat <<'HEAD'
# Hundreds of nodes over five role instances. Printed by generate.sh; to change it, change that.
workflow:
  name: Long haul
  summary: Stage after stage, three work side by side and one puts their work together.
  nodes:
    - { id: begin, role: owner, work: [Say where the journey goes.] }
HEAD

stage=1
while [ "$stage" -le "$stages" ]; do
  cat <<NODES
    - { id: left-$stage, role: worker }
    - { id: middle-$stage, role: worker_2 }
    - { id: right-$stage, role: worker_3 }
    - { id: join-$stage, role: editor, await-all-inputs: true }
NODES
  stage=$((stage + 1))
done

cat <<'MIDDLE'
    - { id: arrive, role: owner, work: [Close the flow.] }
  edges:
MIDDLE

before=begin
stage=1
while [ "$stage" -le "$stages" ]; do
  for lane in left middle right; do
    echo "    - { from: $before, to: $lane-$stage }"
    echo "    - { from: $lane-$stage, to: join-$stage }"
  done
  before=join-$stage
  stage=$((stage + 1))
done

cat <<TAIL
    - { from: $before, to: arrive }
roles:
  owner:
    executor: scripted
    instructions: You begin the journey and end it.
  worker:
    executor: scripted
    instructions: You do one part of a stage.
  editor:
    executor: scripted
    instructions: You put three parts together.
TAIL
