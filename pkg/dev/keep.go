package dev

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// webhookSecret is the installation's signing key: read from the file, or made
// and kept there for its owner alone.
func webhookSecret(path string, entropy io.Reader) (string, error) {
	kept, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(kept)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the webhook secret: %w", err)
	}
	key := make([]byte, 32)
	if _, err := io.ReadFull(entropy, key); err != nil {
		return "", fmt.Errorf("make a webhook secret: %w", err)
	}
	secret := "whsec_" + base64.StdEncoding.EncodeToString(key)
	if err := os.WriteFile(path, []byte(secret+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the webhook secret: %w", err)
	}
	return secret, nil
}

// checkpoints remembers in a file how far the stream has been dealt with. A lost
// file costs that lists are written again, which changes nothing.
type checkpoints struct {
	path string
	mu   sync.Mutex
	seen map[string]string
}

// Load returns the last sequence number dealt with in a shard, or "".
func (c *checkpoints) Load(_ context.Context, shard string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]string{}
		kept, err := os.ReadFile(c.path)
		if err == nil && json.Unmarshal(kept, &c.seen) != nil {
			c.seen = map[string]string{} // torn by a crash: begin anew
		}
	}
	return c.seen[shard], nil
}

// Save keeps the sequence number. The file is replaced as a whole.
func (c *checkpoints) Save(_ context.Context, shard, sequence string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[shard] = sequence
	kept, err := json.Marshal(c.seen)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.path+".new", kept, 0o600); err != nil {
		return err
	}
	return os.Rename(c.path+".new", c.path)
}
