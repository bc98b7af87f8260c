"""read_perfetto.py FILE: the steps of a trace as Perfetto's own schema reads them, as JSON.

A list of {rank, step, account: {cause: ns}}, from the slices of the threads named "training". Slices are paired as
trace_processor does it: the events of a track by time, and an end ends what began last and has not ended.
"""
import collections
import json
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

SLICE_BEGIN, SLICE_END = 1, 2


class Names(dict):
    def learn(self, entries):
        self.update((entry.iid, entry.name) for entry in entries)


def pair_slices(events):
    """(begin, end, event of the begin) of a track's events, given in the order of the file."""
    opened = []
    for at, number, event in sorted(events, key=lambda one: one[0]):
        if event.type == SLICE_BEGIN:
            opened.append((at, number, event))
        elif event.type == SLICE_END:
            begin, begun, event = opened.pop()
            assert number == begun + 1, f"slices of a track overlap: {event}"
            yield begin, at, event
    assert not opened, "a slice does not end"


def read_steps(trace):
    names, arguments, categories = Names(), Names(), Names()
    ranks, training, events = {}, {}, collections.defaultdict(list)
    for packet in trace.packet:
        names.learn(packet.interned_data.event_names)
        arguments.learn(packet.interned_data.debug_annotation_names)
        categories.learn(packet.interned_data.event_categories)
        described = packet.track_descriptor
        if described.HasField("process"):
            ranks[described.process.pid] = described.process.process_name
        if described.HasField("thread") and described.thread.thread_name == "training":
            training[described.uuid] = described.thread.pid
        if packet.HasField("track_event"):
            track_events = events[packet.track_event.track_uuid]
            track_events.append((packet.timestamp, len(track_events), packet.track_event))
    steps = collections.defaultdict(lambda: collections.defaultdict(int))
    for track, track_events in events.items():
        for begin, end, event in pair_slices(track_events):
            if track not in training or categories[event.category_iids[0]] not in ("account", "warm-up"):
                continue
            annotations = {arguments[one.name_iid]: one.int_value for one in event.debug_annotations}
            steps[ranks[training[track]], annotations["step"]][names[event.name_iid]] += end - begin
    return [{"rank": int(rank.split()[-1]), "step": step, "account": account}
            for (rank, step), account in steps.items()]


if __name__ == "__main__":
    read = perfetto_trace_pb2.Trace()
    with open(sys.argv[1], "rb") as file:
        read.ParseFromString(file.read())
    print(json.dumps(read_steps(read)))
