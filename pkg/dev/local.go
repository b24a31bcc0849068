package dev

import (
	"encoding/json"
	"encoding/xml"
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// hosts are the names under which a listener on loopback may be called.
func hosts(listener net.Listener) []string {
	names := []string{"127.0.0.1", "localhost", "::1"}
	if host, _, err := net.SplitHostPort(listener.Addr().String()); err == nil && !slices.Contains(names, host) {
		names = append(names, host)
	}
	return names
}

// localOnly keeps web pages away from the AWS endpoint, which asks for no
// credentials: a page of another origin, and one whose name was made to mean
// loopback (DNS rebinding).
func localOnly(names []string, next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		switch {
		case !slices.Contains(names, strings.ToLower(strings.Trim(host, "[]"))):
			refuse(w, r, http.StatusMisdirectedRequest, "this endpoint does not answer under the host name "+job.Shorten(r.Host)+"; call it as "+strings.Join(names, ", "))
		case guard.Check(r) != nil || fromAnotherSite(r):
			refuse(w, r, http.StatusForbidden, "the request comes from a web page of another origin; call this endpoint from a program")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// fromAnotherSite tells of a browser's request for another site's page, reading
// included: a page may run as a script what it may not read.
func fromAnotherSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "none" && site != "same-origin"
}

// refuse answers in the form that the SDKs read errors in: XML from S3, the one
// service whose requests do not name their operation.
func refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	if r.Header.Get("X-Amz-Target") == "" {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(xml.Header + "<Error><Code>AccessDenied</Code><Message>"))
		_ = xml.EscapeText(w, []byte(message))
		_, _ = w.Write([]byte("</Message></Error>"))
		return
	}
	body, err := json.Marshal(map[string]string{"__type": "com.amazon.coral.service#AccessDeniedException", "message": message})
	if err != nil {
		body = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
