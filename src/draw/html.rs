//! A picture as a page that needs nothing but itself.

use super::{Picture, svg};

/// The page.
pub fn write(pictures: &[Picture]) -> String {
    let title = pictures.iter().map(|p| p.title.as_str()).collect::<Vec<_>>().join(", ");
    let title = svg::escaped(&title);
    let picture = svg::write(pictures);
    format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n{picture}")
}
