{{/* The configuration as written to the ConfigMap. Where it does not name engines or say how many gateways share them, the chart does. */}}
{{- define "maitred.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- if and .Values.engine.enabled (not $config.engines) -}}
{{- $_ := set $config "engines" (list (dict "url" (printf "http://127.0.0.1:%v" .Values.engine.port))) -}}
{{- end -}}
{{- if and ($config.cluster).url (not (hasKey $config.cluster "gateways")) -}}
{{- $_ := set $config.cluster "gateways" (int .Values.replicas) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- define "maitred.isLoopback" -}}
{{- regexMatch "^(127\\.|::1$|localhost$)" (default "127.0.0.1" .) -}}
{{- end -}}

{{/* How admin paths are reached: "shared" on the clients' listener, "loopback", or "network" on a port of their own. */}}
{{- define "maitred.adminAccess" -}}
{{- $admin := .Values.config.admin | default dict -}}
{{- if not $admin.port -}}
shared
{{- else if eq (include "maitred.isLoopback" $admin.host) "true" -}}
loopback
{{- else -}}
network
{{- end -}}
{{- end -}}

{{/* Name of the variable that holds admin.token; empty: no token. */}}
{{- define "maitred.adminTokenVariable" -}}
{{- (.Values.config.admin).token | default "" | trimPrefix "env:" -}}
{{- end -}}

{{/* Seconds from the pod's deletion until it is killed: the gateway drains, and then an engine in the pod ends. */}}
{{- define "maitred.graceSeconds" -}}
{{- $timeouts := .Values.config.timeouts | default dict -}}
{{- $drainMs := ternary $timeouts.drainMs 600000 (hasKey $timeouts "drainMs") -}}
{{- $seconds := add .Values.preStopSeconds (ceil (divf $drainMs 1000)) 10 -}}
{{- ternary (add $seconds .Values.engine.stopSeconds) $seconds .Values.engine.enabled -}}
{{- end -}}

{{/* Variables that `value` names as env:NAME, each followed by a space. */}}
{{- define "maitred.variables" -}}
{{- if kindIs "map" . -}}
{{- range . }}{{ include "maitred.variables" . }}{{ end -}}
{{- else if kindIs "slice" . -}}
{{- range . }}{{ include "maitred.variables" . }}{{ end -}}
{{- else if and (kindIs "string" .) (hasPrefix "env:" .) -}}
{{- printf "%s " (trimPrefix "env:" .) -}}
{{- end -}}
{{- end -}}
