// Streams, graphs and events.
#include "stand_in.h"

namespace stand_in {

struct Graph {
    std::vector<std::function<Result()>> steps;
};

struct Event {
    bool recorded = false;
    uint64_t nanoseconds = 0;
};

// What the default stream may still be doing.
std::vector<std::function<void()>> begun;

void begin_by_default(std::function<void()> step) { begun.push_back(std::move(step)); }

void finish_default_stream()
{
    auto all = std::move(begun);
    begun.clear();
    for (auto &step : all) step();
}

Result put(Stream *stream, std::function<Result()> step)
{
    if (stream && stream->recording) {
        stream->recorded.push_back(std::move(step));
        return SUCCESS;
    }
    return step();
}

}  // namespace stand_in

using namespace stand_in;

extern "C" {

Result cuStreamCreate(void **stream, unsigned flags)
{
    *stream = new Stream{flags != 1};
    return SUCCESS;
}
Result cuStreamDestroy_v2(void *stream)
{
    delete (Stream *)stream;
    return SUCCESS;
}
Result cuStreamSynchronize(void *stream)
{
    if (stream && ((Stream *)stream)->recording) return refuse("cuStreamSynchronize", "the stream is being recorded");
    if (!stream) finish_default_stream();
    return SUCCESS;
}
Result cuStreamWaitEvent(void *, void *, unsigned) { return SUCCESS; }

Result cuStreamBeginCapture_v2(void *stream, int)
{
    ((Stream *)stream)->recording = true;
    return SUCCESS;
}
Result cuStreamEndCapture(void *stream, void **graph)
{
    auto *ended = (Stream *)stream;
    if (!ended->recording) return refuse("cuStreamEndCapture", "nothing is being recorded");
    ended->recording = false;
    *graph = new Graph{std::move(ended->recorded)};
    ended->recorded.clear();
    return SUCCESS;
}
Result cuGraphInstantiateWithFlags(void **ready, void *graph, unsigned long long)
{
    *ready = new Graph(*(Graph *)graph);
    return SUCCESS;
}
Result cuGraphLaunch(void *ready, void *)
{
    for (auto &step : ((Graph *)ready)->steps)
        if (Result result = step()) return result;
    return SUCCESS;
}
Result cuGraphUpload(void *, void *) { return SUCCESS; }
Result cuGraphExecDestroy(void *ready)
{
    delete (Graph *)ready;
    return SUCCESS;
}
Result cuGraphDestroy(void *graph)
{
    delete (Graph *)graph;
    return SUCCESS;
}

Result cuEventCreate(void **event, unsigned)
{
    *event = new Event;
    return SUCCESS;
}
Result cuEventRecord(void *event, void *)
{
    *(Event *)event = {true, stand_in_nanoseconds()};
    return SUCCESS;
}
Result cuEventSynchronize(void *) { return SUCCESS; }
Result cuEventQuery(void *event) { return ((Event *)event)->recorded ? SUCCESS : NOT_READY; }
Result cuEventDestroy_v2(void *event)
{
    delete (Event *)event;
    return SUCCESS;
}
Result cuEventElapsedTime(float *milliseconds, void *begin, void *end)
{
    auto *first = (Event *)begin, *last = (Event *)end;
    if (!first->recorded || !last->recorded) return refuse("cuEventElapsedTime", "an event was not recorded");
    *milliseconds = (float)((double)(last->nanoseconds - first->nanoseconds) * 1e-6);
    return SUCCESS;
}

}  // extern "C"
