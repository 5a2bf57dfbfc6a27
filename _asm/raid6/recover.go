package main

import (
	"github.com/mmcloughlin/avo/reg"
)

// General registers of the recovery functions, besides at and end.
var (
	pointerX, pointerY = reg.R8, reg.R9
	productA, productB = reg.R10, reg.R11
)

// recoverData builds an instruction set's function for two lost data disks.
func (a *assembler) recoverData() {
	name := "recoverData" + a.name
	a.text(name, "func(x, y, p, q []byte, a, b *product)", name+" works like recoverDataGeneric.")
	a.Load(a.Param("x").Base(), pointerX)
	a.Load(a.Param("y").Base(), pointerY)
	a.Load(a.Param("p").Base(), pointerP)
	a.Load(a.Param("q").Base(), pointerQ)
	a.Load(a.Param("x").Len(), end)
	byP, byQ := product{10, 11, 14}, product{12, 13, 14}
	a.Load(a.Param("a"), productA)
	a.loadProduct(productA, byP)
	a.Load(a.Param("b"), productB)
	a.loadProduct(productB, byQ)
	a.XORL(at.As32(), at.As32())
	a.visitAll(2, func(v visit) {
		for u := range v.vectors {
			x, y, p, t := vec(4*u), vec(4*u+1), vec(4*u+2), vec(4*u+3)
			a.load(v, chunk(pointerX, v, u), x)
			a.addFrom(v, chunk(pointerP, v, u), x, t)
			a.load(v, chunk(pointerY, v, u), y)
			a.addFrom(v, chunk(pointerQ, v, u), y, t)
			a.copyTo(v, x, p)
			a.multiply(v, byP, x, t)
			a.multiply(v, byQ, y, t)
			a.add(v, y, x)
			a.store(v, x, chunk(pointerX, v, u))
			a.add(v, p, x)
			a.store(v, x, chunk(pointerY, v, u))
		}
	}, nil)
}

// recoverP builds an instruction set's function for a lost data disk and P.
func (a *assembler) recoverP() {
	name := "recoverP" + a.name
	a.text(name, "func(x, p, q []byte, b *product)", name+" works like recoverPGeneric.")
	a.Load(a.Param("x").Base(), pointerX)
	a.Load(a.Param("p").Base(), pointerP)
	a.Load(a.Param("q").Base(), pointerQ)
	a.Load(a.Param("x").Len(), end)
	byQ := product{12, 13, 14}
	a.Load(a.Param("b"), productB)
	a.loadProduct(productB, byQ)
	a.XORL(at.As32(), at.As32())
	a.visitAll(2, func(v visit) {
		for u := range v.vectors {
			x, p, t := vec(4*u), vec(4*u+1), vec(4*u+2)
			a.load(v, chunk(pointerX, v, u), x)
			a.addFrom(v, chunk(pointerQ, v, u), x, t)
			a.multiply(v, byQ, x, t)
			a.store(v, x, chunk(pointerX, v, u))
			a.load(v, chunk(pointerP, v, u), p)
			a.add(v, x, p)
			a.store(v, p, chunk(pointerP, v, u))
		}
	}, nil)
}
