// Command scan is the function behind the scan queue: it turns due times into executions.
package main

import "github.com/belfry-scheduler/belfry/functions"

func main() {
	functions.Main(func(i *functions.Installation) (any, error) { return functions.Scan(i), nil })
}
