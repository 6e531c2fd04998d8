// Checks each case of the file that it is given, with the code of the documentation.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/golang-jwt/jwt/v5"
)

type testCase struct {
	Kind, Method, Url, Secret, Token, Audience, Issuer string
	Headers                                            map[string]string
	Body                                               []byte
}

func judge(each testCase) error {
	header := http.Header{}
	for name, value := range each.Headers {
		header.Set(name, value)
	}
	switch each.Kind {
	case "secret":
		return verifySecret(each.Secret, header, each.Body)
	case "grant":
		return verifyGrant(each)
	default:
		_, err := verify(each.Method, each.Url, header, each.Body)
		return err
	}
}

func verifyGrant(each testCase) error {
	directories["registry"] = os.Getenv("KEYS")
	keys, err := keysOf("registry")
	if err != nil {
		return err
	}
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithAudience(each.Audience), jwt.WithIssuer(each.Issuer), jwt.WithExpirationRequired())
	_, err = parser.Parse(each.Token, func(token *jwt.Token) (any, error) {
		id, _ := token.Header["kid"].(string)
		if token.Header["typ"] != "assent-grant+jwt" || keys[id] == nil {
			return nil, errors.New("no grant")
		}
		return keys[id], nil
	})
	return err
}

func main() {
	directories["eventemitter.example.com"] = os.Getenv("DIRECTORY")
	directories["down.example.com"] = os.Getenv("DIRECTORY") + "down"
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var each testCase
		if err := json.Unmarshal(lines.Bytes(), &each); err != nil {
			panic(err)
		}
		if err := judge(each); errors.Is(err, errKeys) {
			fmt.Println("unavailable")
		} else if err != nil {
			fmt.Printf("refused %q\n", err.Error())
		} else {
			fmt.Println("ok")
		}
	}
}
