// Package preview draws the dashboard with made-up figures, as one HTML page
// that needs nothing but itself. It shows a person what an installation will show
// before there is one.
//
// What happens to the data here: sections and widgets come from
// observe.Dashboard, so the page cannot show what the dashboard does not; figures
// come from a small story (an outage of one downstream service) and are the same
// at every run. A test keeps docs/dashboard.html up to date.
//
// What it must never do: show a figure that could be taken for a measured one.
package preview
