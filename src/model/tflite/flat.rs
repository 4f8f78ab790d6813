//! Reads FlatBuffers: tables, vectors and strings of a file, each reference held against its bytes.
//!
//! Nothing is decoded ahead: a field is looked up when it is asked for. A reference that leaves the file is
//! an error that says where, so that no file, however damaged, makes a reader panic or allocate more than
//! the file holds.

/// Why a file cannot be read.
pub(super) type Broken = String;

/// One table of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The table's list of field positions, and how many bytes of it there are.
    vtable: usize,
    vtable_len: usize,
}

fn word<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Broken> {
    let end = at.checked_add(N).filter(|end| *end <= bytes.len());
    let part = end.and_then(|end| bytes[at..end].first_chunk::<N>());
    part.copied().ok_or_else(|| format!("cut short: {N} bytes at {at} of {}", bytes.len()))
}

fn offset(bytes: &[u8], at: usize) -> Result<usize, Broken> {
    let distance = u32::from_le_bytes(word(bytes, at)?) as usize;
    let target = at.checked_add(distance).filter(|t| distance > 0 && *t < bytes.len());
    target.ok_or_else(|| format!("the reference at byte {at} leaves the file ({distance} bytes onward)"))
}

/// A number as it lies in a file.
pub(super) trait Scalar: Sized + Copy {
    /// Bytes of one.
    const WIDTH: usize;
    /// From `WIDTH` bytes.
    fn read(bytes: &[u8], at: usize) -> Result<Self, Broken>;
}

macro_rules! scalar {
    ($($type:ty),*) => {$(
        impl Scalar for $type {
            const WIDTH: usize = size_of::<$type>();
            fn read(bytes: &[u8], at: usize) -> Result<Self, Broken> {
                Ok(<$type>::from_le_bytes(word(bytes, at)?))
            }
        }
    )*};
}

scalar!(u8, i8, u16, i32, u32, i64, u64, f32);

impl<'a> Table<'a> {
    /// The root table of a file of that identifier.
    ///
    /// # Errors
    /// The identifier is another, or the table lies outside.
    pub(super) fn root(bytes: &'a [u8], identifier: [u8; 4]) -> Result<Self, Broken> {
        let found: [u8; 4] = word(bytes, 4)?;
        if found != identifier {
            let [found, due] = [&found, &identifier].map(|id| String::from_utf8_lossy(id).into_owned());
            return Err(format!("identifier is {found:?}, not {due:?}"));
        }
        Table::at(bytes, offset(bytes, 0)?)
    }

    fn at(bytes: &'a [u8], at: usize) -> Result<Self, Broken> {
        let back = i32::from_le_bytes(word(bytes, at)?);
        let vtable = (at as i64).checked_sub(i64::from(back)).and_then(|v| usize::try_from(v).ok());
        let vtable =
            vtable.ok_or_else(|| format!("the table at byte {at} has its fields before the file"))?;
        let vtable_len = usize::from(u16::from_le_bytes(word(bytes, vtable)?));
        if vtable_len < 4 || vtable.checked_add(vtable_len).is_none_or(|end| end > bytes.len()) {
            return Err(format!("the table at byte {at} lists its fields in {vtable_len} bytes at {vtable}"));
        }
        Ok(Table { bytes, at, vtable, vtable_len })
    }

    /// Where a field lies, if it is there.
    fn field(&self, field: usize) -> Result<Option<usize>, Broken> {
        let slot = 4 + 2 * field;
        if slot + 2 > self.vtable_len {
            return Ok(None);
        }
        let distance = u16::from_le_bytes(word(self.bytes, self.vtable + slot)?);
        Ok((distance != 0).then(|| self.at + usize::from(distance)))
    }

    /// A number; `default` where the field is left out.
    pub(super) fn scalar<T: Scalar>(&self, field: usize, default: T) -> Result<T, Broken> {
        match self.field(field)? {
            Some(at) => T::read(self.bytes, at),
            None => Ok(default),
        }
    }

    /// A flag; false where the field is left out.
    pub(super) fn flag(&self, field: usize) -> Result<bool, Broken> {
        Ok(self.scalar::<u8>(field, 0)? != 0)
    }

    /// A table that this one refers to.
    pub(super) fn table(&self, field: usize) -> Result<Option<Table<'a>>, Broken> {
        let Some(at) = self.field(field)? else { return Ok(None) };
        Table::at(self.bytes, offset(self.bytes, at)?).map(Some)
    }

    /// First element and number of elements of a vector whose elements have `width` bytes; none where the
    /// field is left out.
    fn vector(&self, field: usize, width: usize) -> Result<(usize, usize), Broken> {
        let Some(at) = self.field(field)? else { return Ok((0, 0)) };
        let at = offset(self.bytes, at)?;
        let len = u32::from_le_bytes(word(self.bytes, at)?) as usize;
        let left = self.bytes.len() - at - 4;
        match len.checked_mul(width) {
            Some(bytes) if bytes <= left => Ok((at + 4, len)),
            _ => Err(format!("cut short: {len} elements of {width} bytes at {at}, {left} bytes are left")),
        }
    }

    /// A vector of numbers; empty where the field is left out.
    pub(super) fn scalars<T: Scalar>(&self, field: usize) -> Result<Vec<T>, Broken> {
        let (start, len) = self.vector(field, T::WIDTH)?;
        (0..len).map(|i| T::read(self.bytes, start + i * T::WIDTH)).collect()
    }

    /// A vector of bytes, not copied.
    pub(super) fn bytes(&self, field: usize) -> Result<&'a [u8], Broken> {
        let (start, len) = self.vector(field, 1)?;
        Ok(&self.bytes[start..start + len])
    }

    /// A string; what is not UTF-8 in it is replaced.
    pub(super) fn string(&self, field: usize) -> Result<String, Broken> {
        Ok(String::from_utf8_lossy(self.bytes(field)?).into_owned())
    }

    /// A vector of tables; empty where the field is left out.
    pub(super) fn tables(&self, field: usize) -> Result<Vec<Table<'a>>, Broken> {
        let (start, len) = self.vector(field, 4)?;
        let table = |i| Table::at(self.bytes, offset(self.bytes, start + 4 * i)?);
        (0..len).map(table).collect()
    }

    /// The bytes `start..start + len` of the file.
    pub(super) fn file_part(&self, start: u64, len: u64) -> Result<&'a [u8], Broken> {
        let part = usize::try_from(start).ok().zip(usize::try_from(len).ok());
        let part = part.and_then(|(start, len)| self.bytes.get(start..start.checked_add(len)?));
        part.ok_or_else(|| format!("{len} bytes at {start} of a file of {} bytes", self.bytes.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    /// Root table with one field: a vector of two bytes.
    const FILE: [u8; 28] = [
        16, 0, 0, 0, b'T', b'E', b'S', b'T', // root at 16, identifier
        6, 0, 8, 0, 4, 0, 0, 0, // field list: 6 bytes, table of 8, field 0 at 4; padding
        8, 0, 0, 0, 4, 0, 0, 0, // table: its list is 8 bytes before; field 0 is 4 bytes onward
        2, 0, 0, 0, // two elements that are not there
    ];

    #[test]
    fn fields_are_found_and_lies_are_refused() {
        let mut file = FILE.to_vec();
        file.extend([7, 9]);
        let root = Table::root(&file, *b"TEST").unwrap();
        assert_eq!(root.bytes(0).unwrap(), [7, 9]);
        assert_eq!(root.scalars::<i8>(0).unwrap(), [7, 9]);
        assert!(root.bytes(1).unwrap().is_empty() && root.table(1).unwrap().is_none());
        assert_eq!(root.scalar(5, 3i32).unwrap(), 3);
        assert!(Table::root(&file, *b"TFL3").unwrap_err().contains("\"TEST\""));
        let short = Table::root(&FILE, *b"TEST").unwrap();
        assert!(short.bytes(0).unwrap_err().contains("0 bytes are left"));
        assert!(short.tables(0).is_err() && short.table(0).is_err());
        assert!(Table::root(&FILE[..18], *b"TEST").unwrap_err().contains("cut short"));
        assert!(Table::root(&[], *b"TEST").is_err());
    }

    #[test]
    fn any_change_of_a_byte_is_an_answer() {
        for at in 0..FILE.len() {
            for value in [0, 1, 4, 127, 128, 255] {
                let mut file = FILE.to_vec();
                file[at] = value;
                if let Ok(root) = Table::root(&file, *b"TEST") {
                    let _ = (root.bytes(0), root.tables(0), root.table(0), root.scalar(0, 0u64));
                }
            }
        }
    }
}
