module example.com/go-sender

go 1.21
