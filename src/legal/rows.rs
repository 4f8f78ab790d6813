//! Rewrites a kernel that writes its output front to back so that the output's elements land in rows of
//! something larger: what a concatenation would copy is where it belongs at once.

use super::Partition;
use super::merge::{MergeError, apply, parse, storage_bindings};
use naga::{
    AddressSpace, Arena, BinaryOperator, Block, Expression, GlobalVariable, Handle, Module, Scalar, Span,
    Statement, StructMember, SwitchCase, Type, TypeInner, VectorSize,
};

/// Like [`super::merge`], and what the kernel writes at element `base + i` of its last binding lands at
/// `base + i / len * stride + i % len`. `base` is the last of the base offsets at the front of the parameter
/// block, `len` and `stride` are the first two of four words that now follow the block.
///
/// Only what is written moves: the kernel must not read what it writes.
///
/// # Errors
/// Like [`super::merge`], or the kernel has no parameter block, or writes its last binding in another way
/// than element by element.
pub fn merge_rows(kernel: &str, wgsl: &str, partition: &Partition) -> Result<Module, MergeError> {
    let mut module = parse(kernel, wgsl)?;
    let refused = |what| MergeError::Rows { kernel: kernel.to_owned(), what };
    let storage = storage_bindings(&module);
    let Some((_, out)) = storage.last() else { return Err(refused("it writes nothing")) };
    let block = module.global_variables.iter().find(|(_, v)| v.space == AddressSpace::Uniform);
    let Some((block, _)) = block else { return Err(refused("it has no parameter block")) };
    let base = storage.len() as u32 - 1;
    let rows = extend(&mut module, block).ok_or_else(|| refused("its parameter block is no struct"))?;
    let moved = Moved { out: *out, block, base, rows };
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    let entries = module.entry_points.iter_mut().map(|entry| &mut entry.function);
    for function in functions.chain(entries) {
        let body = std::mem::take(&mut function.body);
        function.body = moved.body(&mut function.expressions, body);
    }
    apply(kernel, module, partition)
}

/// Appends four words to the parameter block; the number of the new member.
fn extend(module: &mut Module, block: Handle<GlobalVariable>) -> Option<u32> {
    let (name, mut members) = match &module.types[module.global_variables[block].ty] {
        Type { name, inner: TypeInner::Struct { members, .. } } => (name.clone(), members.clone()),
        _ => return None,
    };
    let last = members.last()?;
    let layout = &module.types[last.ty].inner;
    // A vector starts at a multiple of 16 bytes, where the padded block ends.
    let offset = (last.offset + layout.size(module.to_ctx())).next_multiple_of(16);
    let words = TypeInner::Vector { size: VectorSize::Quad, scalar: Scalar::U32 };
    let ty = module.types.insert(Type { name: None, inner: words }, Span::UNDEFINED);
    members.push(StructMember { name: Some("rows".to_owned()), ty, binding: None, offset });
    let (member, span) = (members.len() as u32 - 1, offset + 16);
    let extended = Type { name, inner: TypeInner::Struct { members, span } };
    // A type may only be made of earlier ones, so the old one stays until it is swept out.
    module.global_variables.get_mut(block).ty = module.types.insert(extended, Span::UNDEFINED);
    Some(member)
}

/// What is rewritten, and the members of the parameter block that say how.
struct Moved {
    out: Handle<GlobalVariable>,
    block: Handle<GlobalVariable>,
    base: u32,
    rows: u32,
}

impl Moved {
    /// The statements, each store to the output at its new place.
    fn body(&self, expressions: &mut Arena<Expression>, body: Block) -> Block {
        let mut moved = Block::with_capacity(body.len());
        for (statement, span) in body.span_into_iter() {
            let mut within = |block| self.body(expressions, block);
            let statement = match statement {
                Statement::Block(block) => Statement::Block(within(block)),
                Statement::If { condition, accept, reject } => {
                    Statement::If { condition, accept: within(accept), reject: within(reject) }
                }
                Statement::Switch { selector, cases } => {
                    let case = |case: SwitchCase| SwitchCase { body: within(case.body), ..case };
                    Statement::Switch { selector, cases: cases.into_iter().map(case).collect() }
                }
                Statement::Loop { body, continuing, break_if } => {
                    Statement::Loop { body: within(body), continuing: within(continuing), break_if }
                }
                Statement::Store { pointer, value } => {
                    let pointer = self.place(expressions, pointer, &mut moved).unwrap_or(pointer);
                    Statement::Store { pointer, value }
                }
                other => other,
            };
            moved.push(statement, span);
        }
        moved
    }

    /// The new place of an element of the output, computed by statements that are appended; `None` where the
    /// pointer is to something else.
    fn place(
        &self,
        expressions: &mut Arena<Expression>,
        pointer: Handle<Expression>,
        statements: &mut Block,
    ) -> Option<Handle<Expression>> {
        let Expression::Access { base: array, index } = expressions[pointer] else { return None };
        if !matches!(expressions[array], Expression::GlobalVariable(global) if global == self.out) {
            return None;
        }
        let block = expressions.append(Expression::GlobalVariable(self.block), Span::UNDEFINED);
        let first = expressions.len();
        let mut add = |expression| expressions.append(expression, Span::UNDEFINED);
        let base = add(Expression::AccessIndex { base: block, index: self.base });
        let base = add(Expression::Load { pointer: base });
        let rows = add(Expression::AccessIndex { base: block, index: self.rows });
        let rows = add(Expression::Load { pointer: rows });
        let len = add(Expression::AccessIndex { base: rows, index: 0 });
        let stride = add(Expression::AccessIndex { base: rows, index: 1 });
        let mut binary = |op, left, right| add(Expression::Binary { op, left, right });
        let i = binary(BinaryOperator::Subtract, index, base);
        let row = binary(BinaryOperator::Divide, i, len);
        let column = binary(BinaryOperator::Modulo, i, len);
        let start = binary(BinaryOperator::Multiply, row, stride);
        let place = binary(BinaryOperator::Add, start, column);
        let place = binary(BinaryOperator::Add, base, place);
        let pointer = add(Expression::Access { base: array, index: place });
        statements.push(Statement::Emit(expressions.range_from(first)), Span::UNDEFINED);
        Some(pointer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::merge::print;
    use super::*;

    const FILL: &str = "
        struct Params { x_base: u32, out_base: u32, count: u32, op: u32, factor: f32 }
        @group(0) @binding(0) var<uniform> p: Params;
        @group(0) @binding(1) var<storage, read> x: array<f32>;
        @group(0) @binding(2) var<storage, read_write> out: array<f32>;
        fn store(i: u32, v: f32) { for (var k = 0u; k < 1u; k++) { out[p.out_base + i] = v; } }
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x < p.count { store(id.x, p.factor * x[p.x_base + id.x]); }
        }";

    #[test]
    fn stores_are_moved_and_reads_are_not() {
        let partition = Partition { survivor: vec![1, 1], writable: vec![true; 2] };
        let wgsl = print(&merge_rows("fill", FILL, &partition).unwrap()).unwrap();
        assert_eq!(wgsl.matches("var<storage").count(), 1, "{wgsl}");
        assert!(wgsl.contains("rows: vec4<u32>"), "{wgsl}");
        assert_eq!(wgsl.matches(" / ").count(), 1, "{wgsl}");
        assert_eq!(wgsl.matches(" % ").count(), 1, "{wgsl}");
        // What is printed means what was built: the block's last member is where its words are.
        let again = parse("fill", &wgsl).unwrap();
        let (_, block) =
            again.global_variables.iter().find(|(_, v)| v.space == AddressSpace::Uniform).unwrap();
        let TypeInner::Struct { members, span } = &again.types[block.ty].inner else { panic!("a struct") };
        assert_eq!((members.last().unwrap().offset, *span), (32, 48));
    }

    #[test]
    fn a_kernel_without_parameters_is_refused_by_name() {
        let plain = "
            @group(0) @binding(0) var<storage, read_write> out: array<f32>;
            @compute @workgroup_size(1) fn main() { out[0] = 1.0; }";
        let partition = Partition { survivor: vec![0], writable: vec![true] };
        let error = merge_rows("one", plain, &partition).unwrap_err();
        assert!(error.to_string().contains("'one'") && error.to_string().contains("parameter"), "{error}");
    }
}
