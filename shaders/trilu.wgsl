// Keeps the upper or lower triangle of each matrix, and writes zeros elsewhere. Words of any type.
//
// Bindings: 0 parameters, 1 x, 2 out. May run in place: an invocation reads its element before it writes it.
// Dispatch: 1-D over `count` elements, 256 a workgroup, folded into x and y.

struct Params {
    x_base: u32,
    out_base: u32,
    count: u32,
    rows: u32,
    columns: u32,
    diagonal: i32, // column minus row of the edge, which is kept
    upper: u32, // 1 upper, 0 lower
}

@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = (group.y * groups.x + group.x) * 256u + local;
    if i >= p.count {
        return;
    }
    let column = i32(i % p.columns);
    let row = i32((i / p.columns) % p.rows);
    let distance = column - row;
    let kept = select(distance <= p.diagonal, distance >= p.diagonal, p.upper == 1u);
    out[p.out_base + i] = select(0u, x[p.x_base + i], kept);
}
