// Package stacks cuts an installation into the stacks that are deployed:
//
// | stack   | holds                                                     | on delete            |
// |---------|-----------------------------------------------------------|----------------------|
// | data    | tables, the pools' queues, the bucket, the alarms' topic  | all but topic stay   |
// | core    | the functions but the API's, and the signal queues        | goes                 |
// | api     | the HTTP API and its function                             | goes                 |
// | workers | container workers of the pools of kind ecs                | goes                 |
// | watch   | alarms about the installation as a whole                  | goes                 |
//
// Core, api and workers can be deleted and made again while data stays: what was
// due meanwhile is found by the next tick.
package stacks
