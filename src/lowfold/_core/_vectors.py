"""Vector instructions for compiled loops. Imported with Numba, never with the package.

LLVM does not vectorise these loops by itself: it cannot know that two rows of one array do not overlap, and keeps no
block of a product in registers. So the loops are written as instructions on whole vectors, integers or floats.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types


class Vectors:
    """Code generation for vectors of `lanes` numbers out of a C-contiguous array (n, width); `whole`: rows of one."""

    def __init__(self, context: Any, builder: Any, array_type: Any, array: Any, lanes: int, whole: bool) -> None:
        made = context.make_array(array_type)(context, builder, array)
        self.context, self.builder, self.lanes = context, builder, lanes
        self.data = made.data
        self.width = (
            ir.Constant(context.get_value_type(types.intp), lanes) if whole else builder.extract_value(made.shape, 1)
        )
        self.itemsize = array_type.dtype.bitwidth // 8
        self.integer = isinstance(array_type.dtype, types.Integer)
        self.vector = ir.VectorType(context.get_value_type(array_type.dtype), lanes)

    def row(self, index: Any, index_type: Any) -> Any:
        """Where a row begins."""
        place = self.context.cast(self.builder, index, index_type, types.intp)
        return self.builder.gep(self.data, [self.builder.mul(place, self.width)])

    def _pointer(self, row: Any, column: Any) -> Any:
        at = row if column is None else self.builder.gep(row, [column])
        return self.builder.bitcast(at, self.vector.as_pointer())

    def load(self, row: Any, column: Any = None) -> Any:
        return self.builder.load(self._pointer(row, column), align=self.itemsize)

    def store(self, value: Any, row: Any, column: Any = None) -> None:
        self.builder.store(value, self._pointer(row, column), align=self.itemsize)

    def spread(self, scalar: Any, vector: Any = None) -> Any:
        """`scalar` in every lane."""
        undefined = ir.Constant(self.vector if vector is None else vector, ir.Undefined)
        one = self.builder.insert_element(undefined, scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return self.builder.shuffle_vector(one, undefined, zeros)

    def plus(self, a: Any, b: Any) -> Any:
        return self.builder.add(a, b) if self.integer else self.builder.fadd(a, b)

    def times(self, a: Any, b: Any) -> Any:
        return self.builder.mul(a, b) if self.integer else self.builder.fmul(a, b)

    def less(self, a: Any, b: Any) -> Any:
        return self.builder.icmp_signed("<", a, b) if self.integer else self.builder.fcmp_ordered("<", a, b)

    def smaller(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.less(a, b), a, b)
