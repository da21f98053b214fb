package main

import (
	"fmt"
	"testing"
)

// TestBrowserPagesAreShort: with 20 people, 50 answers and conditions no page of a session has more than three screens of a laptop,
// nor is one wider than a phone.
func TestBrowserPagesAreShort(t *testing.T) {
	t.Parallel()
	browser := startBrowser(t)
	data, addr := t.TempDir(), freeAddr(t)
	id, link := newLink(t, data, addr, "--env", "driver", "--title", "Twenty people", "--conditions", "uniform=0.3", "--held-out", "0.2")
	server := startServer(t, "serve", "--data", data, "--addr", addr)
	for i := range 20 {
		answers := "2"
		if i < 10 {
			answers = "3"
		}
		mustCLI(t, "simulate", "--url", link, "--answers", answers, "--seed", fmt.Sprint(i+1))
	}
	b := newPerson(t, browser)
	b.open(signInLink.FindString(server.out.String()))
	b.enter("[data-signin]")
	b.waitFor("[data-new]")
	ready := map[string]string{
		"": "[data-stop]", "/learning": "[data-fold=more]", "/learnt": "[data-taste] figure", "/asked": "[data-chart=leases]", "/people": "[data-chart=times]",
		"/training": "[data-chart=trainings]", "/data": ".files", "/settings": ".facts",
	}
	for page, there := range ready {
		b.open("http://" + addr + "/sessions/" + id + page)
		b.wait("(({connection, seq}) => connection === 'open' && seq === '50')(document.querySelector('main').dataset)")
		b.waitFor(there)
		b.laidOut()
		if h := evaluate[int](b, "document.documentElement.scrollHeight"); h > 3*800 {
			b.t.Errorf("the page %q has a height of %d pixels, more than three screens", page, h)
		}
		b.resize(390, 844)
		b.noSideways(390)
		if page == "/learning" {
			b.wait("document.querySelector('[data-chart=calibration] details svg') !== null") // drawn for a phone
			b.laidOut()
			if h := evaluate[int](b, "document.documentElement.scrollHeight"); h > 3*844 {
				b.t.Errorf("on a phone the page %q has a height of %d pixels, more than three screens", page, h)
			}
		}
		b.resize(1280, 800)
	}
}
