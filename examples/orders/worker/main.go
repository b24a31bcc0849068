// Command worker runs the handlers of orders, as a Lambda function and as a container.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/belfry-scheduler/belfry/examples/orders"
	"github.com/belfry-scheduler/belfry/pkg/host"
)

func main() {
	b := &books{charged: map[string]bool{}}
	os.Exit(host.Main(orders.Handlers{Bank: b, Ledger: b}.Register))
}

// books stands in for a bank and a ledger: they are in memory, so that the example
// needs neither.
type books struct {
	mu      sync.Mutex
	charged map[string]bool
}

// Charge implements orders.Bank.
func (b *books) Charge(_ context.Context, key, account string, cents int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.charged[key] = true
	fmt.Println("charged", account, cents, "for", key)
	return nil
}

// Charged implements orders.Bank.
func (b *books) Charged(_ context.Context, key string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.charged[key], nil
}

// Read implements orders.Ledger.
func (b *books) Read(context.Context, string) (orders.Page, error) {
	return orders.Page{Rows: []string{"opening balance"}}, nil
}

// Write implements orders.Ledger.
func (b *books) Write(_ context.Context, from string, rows []string) error {
	fmt.Println("wrote", len(rows), "rows at", from)
	return nil
}
