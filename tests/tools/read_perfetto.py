"""read_perfetto.py FILE: the steps of a trace as Perfetto's own schema reads them, as JSON.

A list of {rank, step, account: {cause: ns}}, from the slices of the threads named "training".
"""
import collections
import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

SLICE_BEGIN, SLICE_END = 1, 2


def steps_of(trace):
    names, arguments, categories = {}, {}, {}
    ranks, training, opened = {}, {}, {}
    steps = collections.defaultdict(lambda: collections.defaultdict(int))
    for packet in trace.packet:
        for entry in packet.interned_data.event_names:
            names[entry.iid] = entry.name
        for entry in packet.interned_data.debug_annotation_names:
            arguments[entry.iid] = entry.name
        for entry in packet.interned_data.event_categories:
            categories[entry.iid] = entry.name
        described = packet.track_descriptor
        if described.HasField("process"):
            ranks[described.process.pid] = described.process.process_name
        if described.HasField("thread") and described.thread.thread_name == "training":
            training[described.uuid] = described.thread.pid
        event = packet.track_event
        if not packet.HasField("track_event") or event.track_uuid not in training:
            continue
        if event.type == SLICE_BEGIN:
            opened[event.track_uuid] = (packet.timestamp, event)
        elif event.type == SLICE_END:
            begin, event = opened.pop(event.track_uuid)
            told = {arguments[one.name_iid]: one.int_value for one in event.debug_annotations}
            if categories[event.category_iids[0]] in ("account", "warm-up"):
                key = ranks[training[event.track_uuid]], told["step"]
                steps[key][names[event.name_iid]] += packet.timestamp - begin
    assert not opened, "a slice does not end"
    return [{"rank": int(rank.split()[-1]), "step": step, "account": account}
            for (rank, step), account in steps.items()]


if __name__ == "__main__":
    read = perfetto_trace_pb2.Trace()
    with open(sys.argv[1], "rb") as file:
        read.ParseFromString(file.read())
    print(json.dumps(steps_of(read)))
