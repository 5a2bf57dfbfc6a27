package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chart is a file with panels side by side. In each panel every library has a line.
type chart struct {
	file   string
	panels []panel
}

// A panel's works differ in what its x axis shows, by x.
type panel struct {
	title, axis string
	comparison
	x     []float64
	ticks plot.Ticker
	scale plot.Normalizer
}

func charts() []chart { return append(erasureCharts(), raid6Charts()...) }

// drawCharts measures what the charts show and writes them to a folder.
func drawCharts(dir, processor string, runs int) error {
	for _, c := range charts() {
		var plots []*plot.Plot
		for _, p := range c.panels {
			for _, w := range p.works {
				p.results = append(p.results, measure(w, p.libraries, runs))
			}
			drawn, err := p.draw()
			if err != nil {
				return err
			}
			plots = append(plots, drawn)
		}
		plots[0].Title.Text += "\n" + processor
		if err := writeSVG(filepath.Join(dir, c.file), plots); err != nil {
			return err
		}
	}
	return nil
}

func (p *panel) draw() (*plot.Plot, error) {
	d := plot.New()
	d.Title.Text = p.title
	d.X.Label.Text, d.Y.Label.Text = p.axis, p.unit.name
	d.X.Tick.Marker, d.X.Scale = p.ticks, p.scale
	d.Y.Min = 0
	d.Legend.Top, d.Legend.Left = true, true
	d.Add(plotter.NewGrid())
	for i, l := range p.libraries {
		var points plotter.XYs
		for j, r := range p.results {
			if r.best[i] > 0 {
				points = append(points, plotter.XY{X: p.x[j], Y: float64(r.bytes()) / r.best[i]})
			}
		}
		if len(points) == 0 {
			continue
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, marks.Color = plotutil.Color(i), plotutil.Color(i)
		line.Width = vg.Points(1.5)
		marks.Shape = plotutil.Shape(i)
		d.Add(line, marks)
		d.Legend.Add(l.name, line, marks)
	}
	d.Y.Max *= 1.3 // room for the legend
	return d, nil
}

// sameHeight gives all panels one y axis.
func sameHeight(plots []*plot.Plot) {
	top := 0.0
	for _, p := range plots {
		top = max(top, p.Y.Max)
	}
	for _, p := range plots {
		p.Y.Max = top
	}
}

func writeSVG(name string, plots []*plot.Plot) error {
	sameHeight(plots)
	const width, height = 11 * vg.Centimeter, 8 * vg.Centimeter
	canvas := vgsvg.New(width*vg.Length(len(plots)), height)
	tiles := draw.Tiles{Rows: 1, Cols: len(plots), PadX: vg.Millimeter * 4, PadTop: vg.Millimeter, PadRight: vg.Millimeter * 2}
	for i, c := range plot.Align([][]*plot.Plot{plots}, tiles, draw.New(canvas))[0] {
		plots[i].Draw(c)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// byteTicks mark powers of 16.
type byteTicks struct{}

func (byteTicks) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for v := 64.0; v <= high*1.01; v *= 2 {
		t := plot.Tick{Value: v}
		if int(math.Log2(v))%4 == 2 {
			t.Label = work{size: int(v)}.sizeText()
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// chartedMemory is how large all shards together are at most: more than the last-level cache.
const chartedMemory = 128 << 20

// erasureCharts show the speed of encoding over the shards' size.
func erasureCharts() []chart {
	var charts []chart
	for _, shape := range [][2]int{{10, 4}, {17, 3}, {50, 20}} {
		c := chart{file: fmt.Sprintf("erasure-%d+%d.svg", shape[0], shape[1])}
		for _, staggered := range []bool{false, true} {
			p := panel{
				title:      fmt.Sprintf("Encoding %d+%d, shards %s", shape[0], shape[1], placementName(staggered)),
				axis:       "bytes of a shard",
				comparison: erasureLibraries(),
				ticks:      byteTicks{},
				scale:      plot.LogScale{},
			}
			p.works = nil
			for size := 64; (shape[0]+shape[1])*size <= chartedMemory; size *= 4 {
				k := &code{encode, shape[0], shape[1], size, staggered}
				p.works = append(p.works, work{name: encode, size: size, counted: k})
				p.x = append(p.x, float64(size))
			}
			c.panels = append(c.panels, p)
		}
		charts = append(charts, c)
	}
	return charts
}
