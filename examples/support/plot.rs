//! Plots as inline SVG, drawn by plotters in a palette that colour-blind readers can tell apart.

use plotters::prelude::*;

use crate::cli::Failure;

/// Colours of the series, in order (Okabe and Ito's palette).
pub const PALETTE: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

const SIZE: (u32, u32) = (760, 400);

/// What is drawn in a plot.
#[derive(Debug, Clone)]
pub enum Shape {
    /// Separate marks.
    Points(Vec<(f64, f64)>),
    /// A connected line.
    Line(Vec<(f64, f64)>),
    /// The area between two curves: x, lower, upper.
    Band(Vec<(f64, f64, f64)>),
}

/// One named part of a plot.
#[derive(Debug, Clone)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// Index of its colour in [`PALETTE`] (modulo its length).
    pub colour: usize,
    /// What is drawn.
    pub shape: Shape,
}

impl Series {
    /// A series with its legend, colour and shape.
    #[must_use]
    pub fn new(name: impl Into<String>, colour: usize, shape: Shape) -> Self {
        Self { name: name.into(), colour, shape }
    }

    fn each(&self, mut visit: impl FnMut(f64, f64)) {
        match &self.shape {
            Shape::Points(v) | Shape::Line(v) => v.iter().for_each(|&(x, y)| visit(x, y)),
            Shape::Band(v) => v.iter().for_each(|&(x, low, high)| {
                visit(x, low);
                visit(x, high);
            }),
        }
    }
}

/// A plot of y over x.
#[derive(Debug, Clone)]
pub struct Plot {
    /// What the horizontal axis shows, with its unit.
    pub x_label: String,
    /// What the vertical axis shows, with its unit.
    pub y_label: String,
    /// What is drawn, first below.
    pub series: Vec<Series>,
    /// Whether x is spaced by its logarithm; every x must then be above 0.
    pub log_x: bool,
    /// Whether x counts something, so that only whole numbers are labelled.
    pub whole_x: bool,
    /// Whether the vertical axis begins at 0 (where no value lies below).
    pub from_zero: bool,
}

impl Plot {
    /// An empty plot with linear axes, the vertical one from 0.
    #[must_use]
    pub fn new(x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self { x_label: x_label.into(), y_label: y_label.into(), series: Vec::new(), log_x: false, whole_x: false, from_zero: true }
    }

    /// Labels whole numbers only along x, as for counts.
    #[must_use]
    pub fn whole_x(mut self) -> Self {
        self.whole_x = true;
        self
    }

    /// Adds a series.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// The plot as an `<svg>` element.
    ///
    /// # Errors
    /// There is nothing to draw, or a value is not finite.
    pub fn svg(&self) -> Result<String, Failure> {
        let (mut x, mut y) = (Range::EMPTY, Range::EMPTY);
        for series in &self.series {
            series.each(|px, py| {
                x.take(px);
                y.take(py);
            });
        }
        if !x.is_usable() || !y.is_usable() || (self.log_x && x.low <= 0.0) {
            return Err(Failure::run("a plot has no finite values"));
        }
        let mut y = if self.from_zero && y.low >= 0.0 { Range { low: 0.0, high: y.high } } else { y }.widened(0.05, self.from_zero);
        // The legend stands above the data.
        let named = self.series.iter().filter(|s| !s.name.is_empty()).count();
        y.high += (y.high - y.low) * 0.065 * (named as f64 + 0.5);
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            root.fill(&WHITE).map_err(drawing)?;
            let mut builder = ChartBuilder::on(&root);
            builder.margin(12).x_label_area_size(44).y_label_area_size(72);
            if self.log_x {
                let (low, high) = (x.low * 0.9, x.high * 1.1);
                let span = (low..high).log_scale().with_key_points(log_ticks(low, high));
                self.draw(builder.build_cartesian_2d(span, y.low..y.high).map_err(drawing)?, x)?;
            } else {
                let x = x.widened(0.04, false);
                self.draw(builder.build_cartesian_2d(x.low..x.high, y.low..y.high).map_err(drawing)?, x)?;
            }
            root.present().map_err(drawing)?;
        }
        Ok(scalable(&text, &self.y_label))
    }

    fn draw<'a, X>(
        &self,
        mut chart: ChartContext<'a, SVGBackend<'a>, Cartesian2d<X, plotters::coord::types::RangedCoordf64>>,
        span: Range,
    ) -> Result<(), Failure>
    where
        X: plotters::coord::ranged1d::Ranged<ValueType = f64> + plotters::coord::ranged1d::ValueFormatter<f64>,
    {
        let label = |v: &f64| crate::units::significant(*v, 4);
        let x_label = |v: &f64| if self.whole_x && v.fract() != 0.0 { String::new() } else { label(v) };
        let most = if self.whole_x { (span.high - span.low).floor() as usize + 1 } else { usize::MAX };
        chart
            .configure_mesh()
            .x_labels(most.min(10))
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .x_label_formatter(&x_label)
            .y_label_formatter(&label)
            .axis_desc_style(("sans-serif", 15))
            .label_style(("sans-serif", 13))
            .light_line_style(BLACK.mix(0.04))
            .bold_line_style(BLACK.mix(0.12))
            .draw()
            .map_err(drawing)?;
        for series in &self.series {
            let colour = PALETTE[series.colour % PALETTE.len()];
            let drawn = match &series.shape {
                Shape::Points(v) => chart.draw_series(v.iter().map(|&p| Circle::new(p, 4, colour.filled()))),
                Shape::Line(v) => chart.draw_series(LineSeries::new(v.iter().copied(), colour.stroke_width(2))),
                Shape::Band(v) => {
                    let outline: Vec<_> =
                        v.iter().map(|&(x, low, _)| (x, low)).chain(v.iter().rev().map(|&(x, _, high)| (x, high))).collect();
                    chart.draw_series([Polygon::new(outline, colour.mix(0.15).filled())])
                }
            }
            .map_err(drawing)?;
            if !series.name.is_empty() {
                let alpha = if matches!(series.shape, Shape::Band(_)) { 0.25 } else { 1.0 };
                drawn.label(&series.name).legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 14, y + 4)], colour.mix(alpha).filled()));
            }
        }
        if self.series.iter().any(|s| !s.name.is_empty()) {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .background_style(WHITE.mix(0.8))
                .label_font(("sans-serif", 13))
                .draw()
                .map_err(drawing)?;
        }
        Ok(())
    }
}

/// Horizontal bars of several parts each, with a legend: what a time is made of.
#[derive(Debug, Clone)]
pub struct Bars {
    /// What the lengths are, with the unit.
    pub x_label: String,
    /// Names of the parts, in the order of the values.
    pub parts: Vec<String>,
    /// A name and the lengths of its parts, one below the other.
    pub rows: Vec<(String, Vec<f64>)>,
}

impl Bars {
    /// The bars as an `<svg>` element. The parts of a row stand below each other, since they may overlap in time.
    ///
    /// # Errors
    /// There is nothing to draw.
    pub fn svg(&self) -> Result<String, Failure> {
        let longest = self.rows.iter().flat_map(|(_, v)| v).copied().fold(0.0, f64::max);
        let lanes = self.rows.len() * (self.parts.len() + 1);
        if lanes == 0 || !longest.is_finite() || longest <= 0.0 {
            return Err(Failure::run("a plot has no finite values"));
        }
        let mut text = String::new();
        {
            let root = SVGBackend::with_string(&mut text, (SIZE.0, 90 + 20 * lanes as u32)).into_drawing_area();
            root.fill(&WHITE).map_err(drawing)?;
            let mut chart = ChartBuilder::on(&root)
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(110)
                .build_cartesian_2d(0.0..longest * 1.25, (lanes as f64)..0.0)
                .map_err(drawing)?;
            chart
                .configure_mesh()
                .disable_y_mesh()
                .disable_y_axis()
                .x_desc(&self.x_label)
                .x_label_formatter(&|v| crate::units::significant(*v, 4))
                .axis_desc_style(("sans-serif", 15))
                .label_style(("sans-serif", 13))
                .light_line_style(BLACK.mix(0.04))
                .draw()
                .map_err(drawing)?;
            for (part, name) in self.parts.iter().enumerate() {
                let colour = PALETTE[part % PALETTE.len()];
                let bars = self.rows.iter().enumerate().filter_map(|(row, (_, values))| {
                    let top = (row * (self.parts.len() + 1) + part) as f64 + 0.5;
                    values.get(part).map(|&length| Rectangle::new([(0.0, top), (length, top + 0.85)], colour.filled()))
                });
                chart
                    .draw_series(bars)
                    .map_err(drawing)?
                    .label(name)
                    .legend(move |(x, y)| Rectangle::new([(x, y - 4), (x + 14, y + 4)], colour.filled()));
            }
            let style = ("sans-serif", 14).into_font().color(&BLACK);
            let plane = chart.plotting_area().strip_coord_spec();
            let origin = chart.plotting_area().get_pixel_range();
            for (row, (name, values)) in self.rows.iter().enumerate() {
                let middle = (row * (self.parts.len() + 1)) as f64 + 0.5 + self.parts.len() as f64 / 2.0;
                let (_, y) = chart.plotting_area().map_coordinate(&(0.0, middle));
                root.draw(&Text::new(name.clone(), (14, y - 8), style.clone())).map_err(drawing)?;
                for (part, &value) in values.iter().enumerate() {
                    let at = (row * (self.parts.len() + 1) + part) as f64 + 0.5;
                    let (x, y) = chart.plotting_area().map_coordinate(&(value, at));
                    let point = (x - origin.0.start + 5, y - origin.1.start + 2);
                    plane
                        .draw(&Text::new(crate::units::significant(value, 3), point, ("sans-serif", 12).into_font().color(&BLACK.mix(0.7))))
                        .map_err(drawing)?;
                }
            }
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .background_style(WHITE.mix(0.8))
                .label_font(("sans-serif", 13))
                .draw()
                .map_err(drawing)?;
            root.present().map_err(drawing)?;
        }
        Ok(scalable(&text, &self.x_label))
    }
}

#[derive(Debug, Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
}

impl Range {
    const EMPTY: Self = Self { low: f64::MAX, high: f64::MIN };
    /// Stays so whatever comes.
    const UNUSABLE: Self = Self { low: f64::INFINITY, high: f64::INFINITY };

    fn take(&mut self, value: f64) {
        if value.is_finite() && self.low <= f64::MAX {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
        } else if !value.is_finite() {
            *self = Self::UNUSABLE;
        }
    }

    fn is_usable(self) -> bool {
        self.high.is_finite() && self.low <= self.high
    }

    fn widened(self, share: f64, keep_zero: bool) -> Self {
        let span = if self.high > self.low { self.high - self.low } else { self.high.abs().max(1.0) };
        let low = if keep_zero && self.low == 0.0 { 0.0 } else { self.low - span * share };
        Self { low, high: self.high + span * share }
    }
}

/// 1, 2 and 5 times the powers of ten within a range; the powers alone where it spans more than four of them.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
    let steps: &[f64] = if high / low > 1e4 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    powers.flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power))).filter(|tick| (low..=high).contains(tick)).collect()
}

/// An element that fits its column and has a name for screen readers.
fn scalable(svg: &str, name: &str) -> String {
    let start = svg.find("<svg").unwrap_or(0);
    svg[start..].replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{}\" style=\"max-width:100%;height:auto\" ", crate::page::escape(name)),
        1,
    )
}

fn drawing<E: std::error::Error + Send + Sync>(error: DrawingAreaErrorKind<E>) -> Failure {
    Failure::run(format!("cannot draw a plot: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_holds_its_series() {
        let plot = Plot::new("threads", "rate (MB/s)")
            .with(Series::new("band", 0, Shape::Band(vec![(1.0, 90.0, 110.0), (2.0, 180.0, 220.0)])))
            .with(Series::new("fit", 0, Shape::Line(vec![(1.0, 100.0), (2.0, 200.0)])))
            .with(Series::new("measured", 1, Shape::Points(vec![(1.0, 99.0), (2.0, 205.0)])));
        let svg = plot.svg().unwrap();
        assert_eq!(svg.matches("<circle").count(), 2);
        for text in ["measured", "threads", "rate (MB/s)", "aria-label"] {
            assert!(svg.contains(text), "{text}");
        }
        let log = Plot { log_x: true, ..plot };
        assert_ne!(log.svg().unwrap(), svg);
    }

    #[test]
    fn a_logarithmic_axis_has_readable_labels() {
        assert_eq!(log_ticks(0.9, 110.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(log_ticks(3.0, 40.0), [5.0, 10.0, 20.0]);
        assert_eq!(log_ticks(1.0, 2e5), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5]);
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        assert!(Plot::new("x", "y").svg().is_err());
        assert!(Plot::new("x", "y").with(Series::new("", 0, Shape::Points(vec![(1.0, f64::NAN), (2.0, 1.0)]))).svg().is_err());
        assert!(Bars { x_label: "s".into(), parts: vec![], rows: vec![] }.svg().is_err());
    }

    #[test]
    fn bars_hold_every_part() {
        let bars =
            Bars { x_label: "seconds".into(), parts: vec!["read".into(), "write".into()], rows: vec![("1 thread".into(), vec![1.0, 0.5])] };
        let svg = bars.svg().unwrap();
        assert!(svg.contains("1 thread") && svg.contains("read") && svg.contains("0.5"));
    }
}
