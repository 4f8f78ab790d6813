//! Unique, of constants alone, since the output's shape depends on the elements.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::model::onnx::site::{Fault, Site};
use crate::model::onnx::tensor::{Constant, Tensor};
use crate::model::shape as shapes;

/// What is compared: single elements, or slices along an axis.
struct Slices<'a> {
    x: &'a Tensor,
    outer: usize,
    count: usize,
    inner: usize,
}

impl Slices<'_> {
    /// Places of the elements of slice `i`.
    fn places(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.outer).flat_map(move |o| {
            let first = (o * self.count + i) * self.inner;
            first..first + self.inner
        })
    }

    fn compare(&self, i: usize, j: usize) -> Ordering {
        let element = |(a, b): (usize, usize)| match (self.x.f32_data(), self.x.i64_data()) {
            (Some(data), _) => data[a].total_cmp(&data[b]),
            (_, Some(data)) => data[a].cmp(&data[b]),
            _ => Ordering::Equal,
        };
        let pairs = self.places(i).zip(self.places(j));
        pairs.map(element).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

/// Outputs: the slices that differ, the first of each, which each slice is, and how many of each there are.
pub(super) fn unique(site: &mut Site) -> Result<(), Fault> {
    super::must_fold(site)?;
    let sorted = site.attributes().flag("sorted", true)?;
    let x = site.input(0)?.clone();
    let axis = site.attributes().int("axis")?.map(|axis| shapes::axis(axis, x.shape.len())).transpose()?;
    let slices = match axis {
        None => Slices { x: &x, outer: 1, count: x.shape.iter().product(), inner: 1 },
        Some(axis) => Slices {
            x: &x,
            outer: x.shape[..axis].iter().product(),
            count: x.shape[axis],
            inner: x.shape[axis + 1..].iter().product(),
        },
    };
    let mut order: Vec<usize> = (0..slices.count).collect();
    order.sort_by(|i, j| slices.compare(*i, *j));
    // Runs of equal slices, each with its members in order.
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for i in order {
        match groups.last_mut() {
            Some(group) if slices.compare(group[0], i).is_eq() => group.push(i),
            _ => groups.push(vec![i]),
        }
    }
    if !sorted {
        groups.sort_by_key(|group| group[0]);
    }
    let mut inverse = vec![0; slices.count];
    for (at, group) in groups.iter().enumerate() {
        group.iter().for_each(|i| inverse[*i] = at as i64);
    }
    let mut shape = x.shape.clone();
    match axis {
        None => shape = vec![groups.len()],
        Some(axis) => shape[axis] = groups.len(),
    }
    let kept = Slices { x: &x, ..slices };
    let places = (0..kept.outer).flat_map(|o| {
        let kept = &kept;
        groups.iter().flat_map(move |group| {
            let first = (o * kept.count + group[0]) * kept.inner;
            first..first + kept.inner
        })
    });
    let data = match (x.f32_data(), x.i64_data()) {
        (Some(data), _) => Constant::F32(Arc::new(places.map(|at| data[at]).collect())),
        (_, Some(data)) => Constant::I64(Arc::new(places.map(|at| data[at]).collect())),
        _ => return Err("its input is not constant".into()),
    };
    let (count, len) = (groups.len(), inverse.len());
    site.set(0, Tensor::constant(x.dtype, shape, data));
    site.set(1, Tensor::ints(vec![count], groups.iter().map(|group| group[0] as i64).collect()));
    site.set(2, Tensor::ints(vec![len], inverse));
    site.set(3, Tensor::ints(vec![count], groups.iter().map(|group| group.len() as i64).collect()));
    Ok(())
}
