// Starts every framework as it comes and with the handler, and prints the addresses as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	cloudevents "github.com/cloudevents/sdk-go/v2"
	sdk "github.com/cloudevents/sdk-go/v2/protocol/http"
	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/adaptor"
	"github.com/gorilla/handlers"
	"github.com/gorilla/mux"
	"github.com/labstack/echo/v4"
)

var origins = []string{"eventemitter.example.com"}

func accept(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

var plain = map[string]func(net.Listener){
	"`http.HandleFunc`, any method": func(l net.Listener) { serve(l, http.HandlerFunc(accept)) },
	"`http.ServeMux`": func(l net.Listener) {
		routes := http.NewServeMux()
		routes.HandleFunc("POST /events", accept)
		serve(l, routes)
	},
	"chi": func(l net.Listener) {
		routes := chi.NewRouter()
		routes.Post("/events", accept)
		serve(l, routes)
	},
	"Gin": func(l net.Listener) {
		routes := gin.New()
		routes.POST("/events", gin.WrapF(accept))
		serve(l, routes)
	},
	"Echo": func(l net.Listener) {
		routes := echo.New()
		routes.POST("/events", echo.WrapHandler(http.HandlerFunc(accept)))
		serve(l, routes)
	},
	"Fiber": func(l net.Listener) {
		routes := fiber.New()
		routes.Post("/events", adaptor.HTTPHandlerFunc(accept))
		serveFiber(l, routes)
	},
	"gorilla/mux": func(l net.Listener) {
		routes := mux.NewRouter()
		routes.HandleFunc("/events", accept).Methods("POST")
		serve(l, routes)
	},
	"gorilla/mux in `handlers.CORS()`": func(l net.Listener) {
		routes := mux.NewRouter()
		routes.HandleFunc("/events", accept).Methods("POST")
		serve(l, handlers.CORS()(routes))
	},
	"CloudEvents SDK": func(l net.Listener) { receive(l) },
	"CloudEvents SDK with its handler, `callback` false": func(l net.Listener) {
		receive(l, sdk.WithDefaultOptionsHandlerFunc([]string{"POST"}, 120, origins, false))
	},
	"CloudEvents SDK with its handler, `callback` true": func(l net.Listener) {
		receive(l, sdk.WithDefaultOptionsHandlerFunc([]string{"POST"}, 120, origins, true))
	},
}

var advised = map[string]func(net.Listener){
	"`http.HandleFunc`, any method": func(l net.Listener) {
		serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions {
				handshake(w, r)
				return
			}
			accept(w, r)
		}))
	},
	"`http.ServeMux`": func(l net.Listener) { serve(l, webhook()) },
	"chi": func(l net.Listener) {
		routes := chi.NewRouter()
		routes.Options("/events", handshake)
		routes.Post("/events", accept)
		serve(l, routes)
	},
	"Gin": func(l net.Listener) {
		routes := gin.New()
		routes.OPTIONS("/events", gin.WrapF(handshake))
		routes.POST("/events", gin.WrapF(accept))
		serve(l, routes)
	},
	"Echo": func(l net.Listener) {
		routes := echo.New()
		routes.OPTIONS("/events", echo.WrapHandler(http.HandlerFunc(handshake)))
		routes.POST("/events", echo.WrapHandler(http.HandlerFunc(accept)))
		serve(l, routes)
	},
	"Fiber": func(l net.Listener) {
		routes := fiber.New()
		routes.Options("/events", adaptor.HTTPHandlerFunc(handshake))
		routes.Post("/events", adaptor.HTTPHandlerFunc(accept))
		serveFiber(l, routes)
	},
	"gorilla/mux": func(l net.Listener) {
		routes := mux.NewRouter()
		routes.HandleFunc("/events", handshake).Methods("OPTIONS")
		routes.HandleFunc("/events", accept).Methods("POST")
		serve(l, routes)
	},
	"gorilla/mux in `handlers.CORS()`": func(l net.Listener) {
		routes := mux.NewRouter()
		routes.HandleFunc("/events", handshake).Methods("OPTIONS")
		routes.HandleFunc("/events", accept).Methods("POST")
		serve(l, handlers.CORS(handlers.IgnoreOptions())(routes))
	},
	"CloudEvents SDK": func(l net.Listener) {
		receive(l, sdk.WithDefaultOptionsHandlerFunc([]string{"POST"}, 120, origins, true))
	},
}

// It says that it continues before it has read anything, whatever the client asked.
func continuing(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusContinue)
	if r.Method == http.MethodOptions {
		handshake(w, r)
		return
	}
	accept(w, r)
}

func serve(listener net.Listener, handler http.Handler) { go http.Serve(listener, handler) }

func serveFiber(listener net.Listener, app *fiber.App) {
	go app.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true})
}

func receive(listener net.Listener, options ...sdk.Option) {
	options = append(options, sdk.WithListener(listener), sdk.WithPath("/events"))
	client, err := cloudevents.NewClientHTTP(options...)
	if err != nil {
		panic(err)
	}
	go client.StartReceiver(context.Background(), func(cloudevents.Event) {})
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	addresses := map[string]any{}
	listen := func(start func(net.Listener)) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		start(listener)
		return fmt.Sprintf("http://%s/events", listener.Addr())
	}
	for setup, receivers := range map[string]map[string]func(net.Listener){"plain": plain, "advised": advised} {
		of := map[string]string{}
		for name, start := range receivers {
			of[name] = listen(start)
		}
		addresses[setup] = of
	}
	addresses["continuing"] = listen(func(l net.Listener) { serve(l, http.HandlerFunc(continuing)) })
	line, _ := json.Marshal(addresses)
	fmt.Println(string(line))
	select {}
}
