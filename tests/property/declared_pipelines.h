// Pipelines whose advice was wrong once, and others around them: scenario lines, in one.
#pragma once

#include <array>

namespace loaderscope::property {

inline constexpr std::array kDeclaredPipelines = {
    // Storage that answers late.
    "workers=2 batch=16 cores=2 compute=20ms cost=read=8ms:sleep cost=decode=1ms",
    "workers=4 batch=64 cores=2 compute=36ms cost=read=8ms:sleep cost=decode=800us "
    "cost=augment=300us",
    "workers=1 batch=32 cores=2 compute=25ms cost=read=5ms:sleep",
    "workers=0 batch=32 cores=2 compute=25ms cost=read=5ms:sleep",
    "workers=8 batch=32 cores=4 compute=10ms cost=read=20ms:sleep cost=decode=200us",
    "workers=4 batch=8 cores=8 compute=5ms cost=read=lognormal:6ms:0.8:sleep",
    "workers=2 batch=16 cores=4 compute=15ms storage-latency=6ms storage-concurrency=2",
    "workers=4 batch=16 cores=4 compute=15ms storage-latency=6ms storage-concurrency=32",
    "workers=4 batch=16 cores=8 compute=10ms stored-bytes=200KB storage-bandwidth=100MB/s",
    "workers=2 batch=16 cores=8 compute=10ms stored-bytes=50KB storage-latency=3ms",
    // Decoding on few and on many cores.
    "workers=1 batch=64 cores=2 compute=36ms cost=decode=800us cost=augment=150us",
    "workers=1 batch=64 cores=8 compute=36ms cost=decode=2ms",
    "workers=2 batch=64 cores=2 compute=36ms cost=decode=2ms",
    "workers=4 batch=64 cores=2 compute=36ms cost=decode=2ms",
    "workers=8 batch=32 cores=16 compute=20ms cost=decode=6ms cost=augment=2ms",
    "workers=6 batch=32 cores=16 compute=30ms cost=decode=lognormal:5ms:0.6",
    "workers=2 batch=16 cores=2.5 compute=10ms cost=decode=2ms",
    "workers=3 batch=16 cores=4 compute=20ms cost=decode=3ms cost=read=1ms:sleep",
    "workers=0 batch=16 cores=4 compute=20ms cost=decode=2ms",
    "workers=0 batch=16 cores=1 compute=20ms cost=decode=2ms",
    "workers=0 batch=16 cores=4 compute=200ms cost=decode=200us",
    "workers=5 batch=8 cores=8 compute=10ms cost=augment=10500us",
    "workers=4 batch=16 cores=16 compute=10ms cost=augment=4ms cost=decode=4ms",
    "workers=2 batch=16 cores=16 compute=10ms cost=collate=30ms",
    // The GPU is the limit, or nearly.
    "workers=4 batch=16 cores=8 compute=40ms cost=decode=1ms",
    "workers=4 batch=16 cores=8 compute=100ms cost=decode=lognormal:5ms:1.0",
    "workers=1 batch=16 cores=8 compute=30ms cost=decode=2050us",
    "workers=1 batch=16 cores=8 compute=30ms cost=decode=1950us",
    "workers=4 batch=16 cores=8 compute=30ms cost=decode=1ms cost=launch=1ms",
    "workers=4 batch=16 cores=8 compute=30ms cost=decode=1ms cost=launch=1ms in-flight=1",
    "workers=8 batch=16 cores=8 compute=30ms cost=h2d=2ms",
    // Epochs.
    "workers=2 batch=16 cores=4 samples=160 compute=20ms cost=startup=300ms cost=decode=500us",
    "workers=2 batch=16 cores=4 samples=160 compute=20ms cost=startup=300ms cost=decode=4ms",
    "workers=4 batch=16 cores=4 samples=320 persistent-workers=true compute=20ms cost=decode=4ms",
    "workers=4 batch=16 cores=4 samples=160 compute=20ms cost=startup.parent=30ms "
    "executor=processes cost=decode=1ms",
    "workers=2 batch=16 cores=8 samples=200 compute=10ms cost=decode=2ms",
    "workers=4 batch=8 samples=20 persistent-workers=true cores=8 compute=10ms cost=decode=1ms",
    // Order and depth.
    "workers=4 batch=8 cores=4 compute=10ms cost=decode=4ms inject=decode=+300ms@every=200",
    "workers=4 batch=8 cores=16 prefetch-factor=1 compute=10ms cost=decode=lognormal:3ms:1.0",
    "workers=2 batch=8 cores=16 prefetch-factor=1 compute=10ms cost=decode=2ms "
    "inject=decode=+100ms@p=0.02",
    "workers=8 batch=8 cores=16 prefetch-factor=8 compute=10ms cost=decode=9500us",
    "workers=4 batch=16 cores=8 task=sample compute=10ms cost=decode=lognormal:3ms:0.5",
    // The way to the device.
    "workers=4 batch=8 cores=16 memory=pageable compute=10ms cost=h2d=6ms cost=decode=1ms",
    "workers=4 batch=8 cores=16 memory=pinned-slots copy=sync compute=10ms cost=h2d=8ms "
    "cost=decode=1ms",
    "workers=4 batch=8 cores=16 memory=pinned-slots copy=stream compute=10ms cost=h2d=20ms "
    "cost=decode=1ms",
    "workers=4 batch=8 cores=16 memory=pin-thread compute=10ms cost=pin=20ms cost=decode=1ms",
    "workers=4 batch=8 cores=16 memory=pin-thread compute=10ms cost=pin=3ms cost=h2d=3ms "
    "cost=decode=1ms",
    "workers=4 batch=8 cores=16 in-flight=1 compute=10ms cost=launch=5ms:sleep cost=decode=1ms",
    "workers=4 batch=8 cores=16 compute=10ms cost=launch=30ms:sleep cost=decode=1ms",
    // Batches that are expensive to send.
    "workers=4 batch=8 cores=4 executor=processes compute=2ms cost=decode=100us cost=transport=1ms "
    "cost=transport.recv=6ms",
    "workers=2 batch=8 cores=2 executor=processes compute=1ms cost=decode=20us cost=transport=2ms "
    "cost=transport.recv=3ms cost=launch=1ms",
    "workers=4 batch=8 cores=16 executor=processes compute=10ms cost=decode=8ms "
    "cost=transport.recv=20ms",
    "workers=1 batch=8 cores=4 executor=processes compute=10ms cost=decode=4ms "
    "cost=transport=4ms:sleep cost=transport.recv=1ms",
    // Two causes that are close.
    "workers=4 batch=16 cores=16 device=null cost=read=2ms:sleep cost=decode=2ms",
    "workers=2 batch=16 cores=4 compute=12ms cost=read=3ms:sleep cost=decode=3ms",
    "workers=4 batch=8 cores=16 memory=pinned-slots compute=1ms cost=h2d=12ms cost=decode=6ms",
    // Several ranks.
    "ranks=4 sync-ranks=true workers=2 batch=16 cores=16 compute=20ms cost=decode=500us "
    "inject=read=+40ms@rank=2",
    "ranks=2 sync-ranks=true workers=1 batch=8 cores=8 compute=10ms cost=read=1ms "
    "inject=read=+1ms@rank=1",
    "ranks=2 workers=2 batch=16 cores=4 compute=20ms cost=decode=3ms",
    "ranks=2 workers=1 batch=16 cores=8 compute=20ms cost=read=4ms:sleep",
    // No device.
    "workers=2 batch=16 cores=8 device=null cost=decode=3ms",
    "workers=8 batch=16 cores=2 device=null cost=decode=3ms",
};

}  // namespace loaderscope::property
