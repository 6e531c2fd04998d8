# daprd as it is, of its components only the binding to HTTP.
set -e
source=$(go mod download -json github.com/dapr/dapr@v1.15.0 | sed -n 's/.*"Dir": "\(.*\)",/\1/p')
cp -r "$source" source
chmod -R u+w source
cd source/cmd/daprd/components
ls | grep -vE '^(binding_http|nameresolution_mdns|zz_notag)\.go$' | xargs rm
cd ../../..
go build -tags allcomponents -gcflags='all=-N -l -dwarf=false' -ldflags='-s -w' -o ../daprd ./cmd/daprd
