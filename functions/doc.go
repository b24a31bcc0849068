// Package functions is what the platform invokes: one handler for each Lambda
// function, over the rooms that assemble puts together. The mains are in the
// folders below and only name their handler, so whatever drives the platform's
// part (a deployment, `belfry dev`, a simulation, a test) runs the same code.
//
// What happens to the data here: an event of the platform is opened and handed
// to the plane that it concerns; what the plane answers is turned into what the
// platform understands, above all which messages stay in their queue.
//
// | function   | invoked by                                 | hands to              |
// |------------|--------------------------------------------|-----------------------|
// | tick       | EventBridge Scheduler, the tick queue      | trigger.Service.Tick  |
// | scan       | the scan queue                             | trigger.Service.Scan  |
// | work       | a pool's queue and its isolation queue     | worker.Worker         |
// | deadletter | the pools' dead-letter queues              | worker.Worker         |
// | record     | the stream of the executions table         | record.Recorder       |
// | archive    | the streams of executions and control      | archive.Archiver      |
// | api        | API Gateway (HTTP API, payload format 2.0) | httpapi               |
//
// What it must never do: decide anything about a job or an execution, or keep
// anything from one invocation to the next beyond caches.
package functions
