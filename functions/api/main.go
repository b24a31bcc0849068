// Command api is the function behind API Gateway: the REST API.
package main

import "github.com/belfry-scheduler/belfry/functions"

func main() {
	functions.Main(func(i *functions.Installation) (any, error) { return functions.API(i), nil })
}
