package conformance

// updateRow is an update and what it makes of an item; a nil before means that
// there is none.
type updateRow struct {
	name       string
	before     doc
	expression string
	with       doc
	after      doc
}

func dynamoUpdateCases() []Case {
	rows := []updateRow{
		{"SET writes and overwrites", doc{"x": 1}, "SET x = :v, y = :v", doc{":v": "new"}, doc{"x": "new", "y": "new"}},
		{"SET adds and subtracts exactly", doc{"x": number("0.1")}, "SET x = x + :a, y = :a - x", doc{":a": number("0.2")}, doc{"x": number("0.3"), "y": number("0.1")}},
		{"SET adds at 38 digits", doc{"x": number("99999999999999999999999999999999999998")}, "SET x = x + :one", doc{":one": 1},
			doc{"x": number("99999999999999999999999999999999999999")}},
		{"SET copies what was there before", doc{"x": 1, "y": 2}, "SET x = y, y = x", nil, doc{"x": 2, "y": 1}},
		{"if_not_exists keeps what is there", doc{"x": 1}, "SET x = if_not_exists(x, :v), y = if_not_exists(y, :v)", doc{":v": 5}, doc{"x": 1, "y": 5}},
		{"if_not_exists feeds a sum", nil, "SET x = if_not_exists(x, :zero) + :one", doc{":zero": 0, ":one": 1}, doc{"x": 1}},
		{"if_not_exists may name another attribute", doc{"y": 7}, "SET x = if_not_exists(y, :v)", doc{":v": 5}, doc{"x": 7, "y": 7}},
		{"list_append adds at either end", doc{"l": []any{2}}, "SET l = list_append(l, :v), k = list_append(:v, l)", doc{":v": []any{3}},
			doc{"l": []any{2, 3}, "k": []any{3, 2}}},
		{"list_append to a list that may be absent", nil, "SET l = list_append(if_not_exists(l, :none), :v)", doc{":none": []any{}, ":v": []any{3}}, doc{"l": []any{3}}},
		{"SET reaches into maps and lists", doc{"m": doc{"l": []any{1, doc{"k": 2}}}}, "SET m.l[1].k = :v, m.n = :v", doc{":v": 9},
			doc{"m": doc{"l": []any{1, doc{"k": 9}}, "n": 9}}},
		{"SET past the end of a list appends", doc{"l": []any{1}}, "SET l[7] = :v", doc{":v": 2}, doc{"l": []any{1, 2}}},
		{"SET of several places past the end appends in their order", doc{"l": []any{1}}, "SET l[9] = :b, l[8] = :a", doc{":a": 2, ":b": 3}, doc{"l": []any{1, 2, 3}}},
		{"REMOVE takes attributes and entries of maps", doc{"x": 1, "m": doc{"a": 1, "b": 2}}, "REMOVE x, m.a, absent, m.absent", nil, doc{"m": doc{"b": 2}}},
		{"REMOVE of list elements means the list as it was", doc{"l": []any{0, 1, 2, 3}}, "REMOVE l[0], l[2], l[9]", nil, doc{"l": []any{1, 3}}},
		{"SET and REMOVE in one list mean the list as it was", doc{"l": []any{0, 1, 2}}, "REMOVE l[0] SET l[1] = :v", doc{":v": 9}, doc{"l": []any{9, 2}}},
		{"ADD counts from nothing", nil, "ADD n :v, #m :v", doc{":v": number("2.5")}, doc{"n": number("2.5"), "m": number("2.5")}},
		{"ADD adds numbers", doc{"n": 5}, "ADD n :v", doc{":v": -7}, doc{"n": -2}},
		{"ADD unites sets", doc{"s": stringSet{"a", "b"}, "n": numberSet{"1"}}, "ADD s :s, n :n, t :s", doc{":s": stringSet{"b", "c"}, ":n": numberSet{"1.0", "2"}},
			doc{"s": stringSet{"a", "b", "c"}, "n": numberSet{"1", "2"}, "t": stringSet{"b", "c"}}},
		{"DELETE takes members from sets", doc{"s": stringSet{"a", "b"}}, "DELETE s :s, absent :s", doc{":s": stringSet{"b", "z"}}, doc{"s": stringSet{"a"}}},
		{"DELETE of the last member removes the set", doc{"s": stringSet{"a"}}, "DELETE s :s", doc{":s": stringSet{"a"}}, doc{}},
		{"ADD reaches into maps", doc{"m": doc{"n": 1}}, "ADD m.n :v, m.k :v", doc{":v": 2}, doc{"m": doc{"n": 3, "k": 2}}},
		{"all four sections in one update", doc{"x": 1, "y": 2, "s": stringSet{"a", "b"}, "n": 1},
			"DELETE s :s ADD n :one REMOVE y SET x = :one, z = n", doc{":s": stringSet{"a"}, ":one": 1}, doc{"x": 1, "z": 1, "s": stringSet{"b"}, "n": 2}},
		{"a placeholder name is one name, dots and all", doc{"dot.ted": 1}, "SET #dotted = #dotted + :v, #hash = :v", doc{":v": 1}, doc{"dot.ted": 2, "#hash": 1}},
		{"keywords in any case", nil, "set x = :v", doc{":v": 1}, doc{"x": 1}},
		{"parentheses around a sum", doc{"x": 1}, "SET x = (x + :v)", doc{":v": 1}, doc{"x": 2}},
	}
	cases := make([]Case, len(rows))
	for i, row := range rows {
		cases[i] = onDynamoDB("update: "+row.name, func(d database) {
			table := d.create("updates", "")
			if row.before != nil {
				d.put(table, keyed(row.before))
			}
			out, err := d.tryUpdate(table, doc{"pk": "a"}, row.expression, usedNames(row.expression), row.with)
			done(d, out, err)
			d.wantItem(table, doc{"pk": "a"}, keyed(row.after))
		})
	}
	return cases
}

func keyed(d doc) doc {
	out := doc{"pk": "a"}
	for name, v := range d {
		out[name] = v
	}
	return out
}

// dynamoRefusedUpdateCases: each leaves the item as it was.
func dynamoRefusedUpdateCases() []Case {
	before := doc{"pk": "a", "x": 1, "s": "text", "l": []any{1}, "m": doc{"a": 1}, "ss": stringSet{"a"}, "big": number("9.9999999999999999999999999999999999999E+125")}
	rows := []struct {
		name, expression string
		with             doc
	}{
		{"a sum with a string", "SET x = x + s", nil},
		{"a sum with a string value", "SET x = x + :v", doc{":v": "a"}},
		{"a sum with an absent attribute", "SET x = x + absent", nil},
		{"a copy of an absent attribute", "SET y = absent", nil},
		{"list_append to a number", "SET x = list_append(x, :v)", doc{":v": []any{1}}},
		{"list_append of a string value", "SET l = list_append(l, :v)", doc{":v": "a"}},
		{"SET within an absent map", "SET absent.a = :v", doc{":v": 1}},
		{"SET of a map entry within a list", "SET l.a = :v", doc{":v": 1}},
		{"SET of a list element within a map", "SET m[0] = :v", doc{":v": 1}},
		{"REMOVE within an absent map", "REMOVE absent.a", nil},
		{"ADD of a number to a string", "ADD s :v", doc{":v": 1}},
		{"ADD of a string", "ADD y :v", doc{":v": "a"}},
		{"ADD of a list", "ADD l :v", doc{":v": []any{1}}},
		{"ADD of numbers to a set of strings", "ADD ss :v", doc{":v": numberSet{"1"}}},
		{"DELETE of a number", "DELETE x :v", doc{":v": 1}},
		{"DELETE of numbers from a set of strings", "DELETE ss :v", doc{":v": numberSet{"1"}}},
		{"a sum beyond the range of numbers", "SET big = big + big", nil},
		{"a sum that needs more than 38 digits", "SET x = x + :v", doc{":v": number("0.00000000000000000000000000000000000001")}},
		{"the partition key", "SET pk = :v", doc{":v": "b"}},
		{"one path twice", "SET x = :v, x = :v", doc{":v": 1}},
		{"a path and a part of it", "SET m = :v REMOVE m.a", doc{":v": 1}},
		{"a path that is a list for one and a map for the other", "SET m.a = :v REMOVE m[0]", doc{":v": 1}},
		{"one path under two names", "SET x = :v, #x = :v", doc{":v": 1}},
		{"a section twice", "SET x = :v SET y = :v", doc{":v": 1}},
		{"size in an update", "SET x = size(s)", nil},
		{"an unknown function", "SET x = abs(x)", nil},
		{"if_not_exists without a path", "SET x = if_not_exists(:v, x)", doc{":v": 1}},
		{"three summands", "SET x = x + x + x", nil},
		{"a product", "SET x = x * x", nil},
		{"a reserved word", "SET size = :v", doc{":v": 1}},
		{"an empty expression", " ", nil},
		{"a value that is not defined", "SET x = :w", doc{":v": 1}},
		{"a name that is not defined", "SET #y = :v", doc{":v": 1}},
		{"an unused value", "REMOVE x", doc{":v": 1}},
		{"a missing comma", "SET x = :v y = :v", doc{":v": 1}},
	}
	cases := make([]Case, len(rows))
	for i, row := range rows {
		cases[i] = onDynamoDB("update refused: "+row.name, func(d database) {
			table := d.create("updates", "")
			d.put(table, before)
			var names map[string]string
			if row.name == "one path under two names" {
				names = map[string]string{"#x": "x"}
			}
			_, err := d.tryUpdate(table, doc{"pk": "a"}, row.expression, names, row.with)
			d.refused(err, invalid)
			d.wantItem(table, doc{"pk": "a"}, before)
		})
	}
	return cases
}
