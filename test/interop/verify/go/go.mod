module assent.test/verify

go 1.25.0

require (
	github.com/dunglas/httpsfv v1.1.2
	github.com/golang-jwt/jwt/v5 v5.3.1
	github.com/standard-webhooks/standard-webhooks/libraries v0.0.1
)
