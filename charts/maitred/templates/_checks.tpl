{{/* Contradictions between values, which the schema cannot express. */}}
{{- define "maitred.check" -}}
{{- $config := .Values.config -}}
{{- $access := include "maitred.adminAccess" . -}}
{{- $token := include "maitred.adminTokenVariable" . -}}
{{- $known := keys .Values.secretEnv -}}
{{- range .Values.extraEnv -}}{{- $known = append $known .name -}}{{- end -}}
{{- range compact (splitList " " (include "maitred.variables" $config)) -}}
{{- if not (has . $known) -}}
{{- fail (printf "config names env:%s, which neither secretEnv nor extraEnv sets" .) -}}
{{- end -}}
{{- end -}}
{{- range $known -}}
{{- if hasPrefix "MAITRED_" . -}}
{{- fail (printf "secretEnv and extraEnv must not set %s, which would override config" .) -}}
{{- end -}}
{{- end -}}
{{- if or (eq (include "maitred.isLoopback" ($config.listen).host) "true") (not ($config.listen).port) -}}
{{- fail "config.listen must have a host that is reached from outside of the pod, such as 0.0.0.0, and a fixed port" -}}
{{- end -}}
{{- if eq (toString ($config.admin).port) "0" -}}
{{- fail "config.admin.port must be fixed" -}}
{{- end -}}
{{- if not (or $config.engines $config.discovery $config.embedded .Values.engine.enabled) -}}
{{- fail "no engine: set config.engines or config.discovery, engine.enabled for one in this pod, or config.embedded: 2 for a trial" -}}
{{- end -}}
{{- $shares := ($config.cluster).url -}}
{{- if and (gt (int .Values.replicas) 1) (not $shares) (not .Values.independentReplicas) -}}
{{- fail "replicas: without config.cluster.url, each replica schedules only the calls that it gets, and knows nothing of the others. Set it, keep 1, or set independentReplicas: true and see the README, \"More than one replica\"" -}}
{{- end -}}
{{- if and $shares .Values.engine.enabled -}}
{{- fail "config.cluster.url: gateways cannot share an engine that each has in its own pod" -}}
{{- end -}}
{{- if and (eq $access "network") (not $token) -}}
{{- fail "config.admin.host is open to the network, so config.admin.token must name a secret: env:NAME, and secretEnv.NAME" -}}
{{- end -}}
{{- if ne $access "shared" -}}
{{- if eq (int $config.admin.port) (int $config.listen.port) -}}
{{- fail "config.admin.port must differ from config.listen.port" -}}
{{- end -}}
{{- end -}}
{{- if .Values.serviceMonitor.enabled -}}
{{- if or (eq $access "loopback") (not (hasKey .Values.secretEnv $token)) -}}
{{- fail "serviceMonitor: Prometheus needs config.admin.host: 0.0.0.0, and config.admin.token: env:NAME with secretEnv.NAME" -}}
{{- end -}}
{{- if and .Values.networkPolicy.enabled (eq $access "network") (not .Values.networkPolicy.admin) -}}
{{- fail "serviceMonitor: networkPolicy.admin must name Prometheus, such as [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: monitoring}}}]" -}}
{{- end -}}
{{- end -}}
{{- if .Values.engine.enabled -}}
{{- if semverCompare "<1.29.0-0" .Capabilities.KubeVersion.Version -}}
{{- fail "engine: an engine that starts before the gateway and ends after it needs Kubernetes 1.29" -}}
{{- end -}}
{{- if not .Values.engine.container.image -}}
{{- fail "engine.container.image is missing" -}}
{{- end -}}
{{- end -}}
{{- if and .Values.podDisruptionBudget.enabled (eq (kindIs "invalid" .Values.podDisruptionBudget.minAvailable) (kindIs "invalid" .Values.podDisruptionBudget.maxUnavailable)) -}}
{{- fail "podDisruptionBudget: set one of minAvailable and maxUnavailable, and the other to null" -}}
{{- end -}}
{{- $grace := int (include "maitred.graceSeconds" .) -}}
{{- $given := .Values.terminationGracePeriodSeconds -}}
{{- if not (kindIs "invalid" $given) -}}
{{- if lt (int $given) $grace -}}
{{- fail (printf "terminationGracePeriodSeconds must be at least %d, for the pause before SIGTERM and config.timeouts.drainMs" $grace) -}}
{{- end -}}
{{- end -}}
{{- end -}}
