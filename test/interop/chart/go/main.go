// Takes manifests as YAML on standard input, and says what the API server of Kubernetes would refuse: it decodes them
// strictly, sets the defaults, and runs the steps before a create, which include its validation.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
)

var strategies = map[string]rest.RESTCreateStrategy{
	"ConfigMap":           configmap.Strategy,
	"Deployment":          deployment.Strategy,
	"Ingress":             ingress.Strategy,
	"Job":                 job.Strategy,
	"NetworkPolicy":       networkpolicy.Strategy,
	"PodDisruptionBudget": poddisruptionbudget.Strategy,
	"Service":             service.Strategy,
	"ServiceAccount":      serviceaccount.Strategy,
	"StatefulSet":         statefulset.Strategy,
}

func check(ctx context.Context, document []byte) (string, error) {
	scheme := legacyscheme.Scheme
	options := json.SerializerOptions{Yaml: true, Strict: true}
	object, kind, err := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, options).Decode(document, nil, nil)
	if err != nil {
		return "", err
	}
	scheme.Default(object)
	internal, err := scheme.UnsafeConvertToVersion(object, runtime.InternalGroupVersioner)
	if err != nil {
		return kind.Kind, err
	}
	strategy, found := strategies[kind.Kind]
	if !found {
		return kind.Kind, errors.New("no strategy for this kind")
	}
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		APIGroup: kind.Group, APIVersion: kind.Version, Namespace: "webhooks", Verb: "create",
	})
	// What the storage of services does first.
	if headless, ok := internal.(*core.Service); ok && headless.Spec.ClusterIP != "" {
		headless.Spec.ClusterIPs = []string{headless.Spec.ClusterIP}
	}
	// The API server allocates this port for a load balancer that keeps the address of its clients.
	if local, ok := internal.(*core.Service); ok && local.Spec.ExternalTrafficPolicy == core.ServiceExternalTrafficPolicyLocal {
		local.Spec.HealthCheckNodePort = 32000
	}
	meta, err := apimeta.Accessor(internal)
	if err != nil {
		return kind.Kind, err
	}
	rest.FillObjectMetaSystemFields(meta)
	if err := rest.BeforeCreate(strategy, ctx, internal); err != nil {
		return kind.Kind, err
	}
	for _, warning := range strategy.WarningsOnCreate(ctx, internal) {
		return kind.Kind, errors.New("warning: " + warning)
	}
	return kind.Kind, nil
}

func main() {
	ctx := genericapirequest.WithNamespace(context.Background(), "webhooks")
	reader := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	accepted := 0
	for {
		document, err := reader.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(err)
		}
		if kind, err := check(ctx, document); err != nil {
			fmt.Printf("%s: %v\n", kind, err)
		} else {
			accepted++
		}
	}
	fmt.Printf("%d accepted\n", accepted)
}
