package main

// What the contract says, in Go. Needs buf: https://buf.build/docs/cli, or `pip install buf-bin`.
//go:generate buf generate
