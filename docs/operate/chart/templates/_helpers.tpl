{{/* Names are cut so that the longest suffix still makes a DNS label. */}}
{{- define "assent.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "assent.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "assent.name" . -}}
{{- ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* All pods of the release. */}}
{{- define "assent.releaseSelector" -}}
app.kubernetes.io/name: {{ include "assent.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* With (dict "root" $ "component" NAME). Of pods, and of what selects them. */}}
{{- define "assent.selector" -}}
{{ include "assent.releaseSelector" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "assent.labels" -}}
{{ include "assent.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "assent.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "assent.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "assent.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A setting as the program reads it: lists with commas, objects as JSON. Helm reads large numbers as floats. */}}
{{- define "assent.setting" -}}
{{- if kindIs "slice" . -}}
{{- if and . (kindIs "map" (first .)) -}}
{{- toJson . -}}
{{- else -}}
{{- $parts := list -}}
{{- range . }}{{- $parts = append $parts (include "assent.setting" .) -}}{{- end -}}
{{- join "," $parts -}}
{{- end -}}
{{- else if kindIs "float64" . -}}
{{- int64 . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}

{{/*
The variables of a process, with (dict "root" $ "own" VALUES "without" SECRETS "shared" BOOL "unshared" SETTING).
Kubernetes would replace $(NAME) in a value.
*/}}
{{- define "assent.env" -}}
{{- $own := .own -}}
{{- $shared := dict "settings" dict "secrets" dict "files" dict -}}
{{- if .shared }}{{- $shared = .root.Values -}}{{- end -}}
{{- $without := default list .without -}}
{{- range $name, $value := merge (dict) (default dict $own.settings) (omit $shared.settings (default "" .unshared)) }}
{{- if not (kindIs "invalid" $value) }}
- name: {{ $name }}
  {{ dict "value" (include "assent.setting" $value | replace "$(" "$$(") | toYaml }}
{{- end }}
{{- end }}
{{- range $name, $from := merge (dict) (default dict $own.secrets) $shared.secrets }}
{{- if and $from (not (has $name $without)) }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $from.name }}, key: {{ $from.key }} } }
{{- end }}
{{- end }}
{{- range $name, $from := merge (dict) (default dict $own.files) $shared.files }}
{{- if $from }}
- name: {{ $name }}
  value: /etc/assent/{{ include "assent.fileVolume" $name }}/{{ $from.key }}
{{- end }}
{{- end }}
{{- with $own.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "assent.fileVolume" -}}
{{- . | lower | replace "_" "-" -}}
{{- end -}}

{{/* Whole folders, so that a changed Secret reaches the running process. */}}
{{- define "assent.fileMounts" -}}
{{- range $name, $from := merge (dict) (default dict .own.files) .root.Values.files }}
{{- if $from }}
- { name: {{ include "assent.fileVolume" $name }}, mountPath: /etc/assent/{{ include "assent.fileVolume" $name }}, readOnly: true }
{{- end }}
{{- end }}
{{- end -}}

{{- define "assent.fileVolumes" -}}
{{- range $name, $from := merge (dict) (default dict .own.files) .root.Values.files }}
{{- if $from }}
- name: {{ include "assent.fileVolume" $name }}
  {{- if $from.secret }}
  secret: { secretName: {{ $from.secret }}, items: [{ key: {{ $from.key }}, path: {{ $from.key }} }] }
  {{- else }}
  configMap: { name: {{ $from.configMap }}, items: [{ key: {{ $from.key }}, path: {{ $from.key }} }] }
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "assent.databaseMount" -}}
{{- if .Values.databaseFiles }}
- { name: database, mountPath: /etc/assent/database, readOnly: true }
{{- end }}
{{- end -}}

{{- define "assent.databaseVolume" -}}
{{- with .Values.databaseFiles }}
- name: database
  {{- if .secret }}
  secret: { secretName: {{ .secret }} }
  {{- else }}
  configMap: { name: {{ .configMap }} }
  {{- end }}
{{- end }}
{{- end -}}

{{/* The labels and annotations of a pod, with (dict "root" $ "own" VALUES "component" NAME "port" OPERATIONS_PORT). */}}
{{- define "assent.podMetadata" -}}
labels:
  {{- include "assent.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  {{- with .own.pod.labels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- $annotations := default dict .own.pod.annotations -}}
{{- if and .port .root.Values.monitoring.annotations -}}
{{- $annotations = merge (dict) $annotations (dict "prometheus.io/scrape" "true" "prometheus.io/port" (toString .port)) -}}
{{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* What all pods have, with (dict "root" $ "own" VALUES "component" NAME). */}}
{{- define "assent.podBase" -}}
automountServiceAccountToken: false
# Otherwise Kubernetes adds variables like ASSENT_PORT for the Service, and Assent refuses to start with them.
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  # Any user will do. One that no node has is safest.
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
{{- range $name := list "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
{{- with index (default dict $.own.pod) $name }}
{{ $name }}: {{ toJson . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The pause before the stop, and ASSENT_STOP_SECONDS with some seconds to spare. */}}
{{- define "assent.grace" -}}
terminationGracePeriodSeconds: {{ add 18 (default 12 .Values.settings.ASSENT_STOP_SECONDS) }}
{{- end -}}

{{/* Over nodes and zones, as far as there are enough of them. */}}
{{- define "assent.spread" -}}
topologySpreadConstraints:
  {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "assent.selector" $ | nindent 8 }}
  {{- end }}
{{- end -}}

{{- define "assent.containerBase" -}}
image: {{ include "assent.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* With the place in the order of hooks. */}}
{{- define "assent.beforeRelease" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- define "assent.nameEgress" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end -}}

{{/* Rules of a network policy for names and webhooks. */}}
{{- define "assent.webhookEgress" -}}
{{ include "assent.nameEgress" . }}
# Webhooks and the keys of token issuers, on public addresses. Assent checks the addresses of webhooks itself; this
# is a second lock.
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except: [10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
    - ipBlock:
        cidr: ::/0
        except: ['::1/128', 'fc00::/7', 'fe80::/10']
    {{- range .Values.settings.ASSENT_ALLOWED_NETWORKS }}
    - ipBlock: { cidr: {{ ternary . (printf "%s/%s" . (ternary "128" "32" (contains ":" .))) (contains "/" .) | quote }} }
    {{- end }}
  ports:
    {{- /* The keys of issuers are at 443, whatever the ports of webhooks are. */}}
    {{- $ports := list 443 }}
    {{- range default (list 8443) .Values.settings.ASSENT_SINK_PORTS }}{{ $ports = append $ports (int .) }}{{ end }}
    {{- range uniq $ports }}
    - { protocol: TCP, port: {{ . }} }
    {{- end }}
{{- with .Values.networkPolicy.egress }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "assent.registryUrl" -}}
{{- if .Values.registry.enabled -}}
http://{{ include "assent.fullname" . }}
{{- end -}}
{{- end -}}

{{- define "assent.databaseEgress" -}}
# Postgres.
- ports:
    - { protocol: TCP, port: {{ .Values.networkPolicy.database.port }} }
  {{- with .Values.networkPolicy.database.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "assent.ownRegistryEgress" -}}
{{- if .Values.registry.enabled -}}
# The registry of this release.
- to:
    - podSelector:
        matchLabels:
          {{- include "assent.selector" (dict "root" $ "component" "registry") | nindent 10 }}
  ports:
    - { protocol: TCP, port: {{ int (default 3000 .Values.registry.settings.ASSENT_PORT) }} }
{{- end -}}
{{- end -}}
