//! `modelDescription.xml` of both versions: what is read, what is repaired, and what is said about
//! it.

use dovetail_fmi::description::{
    Causality, Description, DescriptionError, Dimension, Initial, Strictness, Value, ValueType,
    Variability, Version, Warning, read,
};
use proptest::prelude::*;

const TWO: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Spring and mass" guid="{1-2}" numberOfEventIndicators="3"
  description="A test" generationTool="By hand" variableNamingConvention="structured">
  <ModelExchange modelIdentifier="spring" completedIntegratorStepNotNeeded="true"/>
  <CoSimulation modelIdentifier="spring" canHandleVariableCommunicationStepSize="true" canInterpolateInputs="1"
    maxOutputDerivativeOrder="2" canGetAndSetFMUstate="true" providesDirectionalDerivative="true"/>
  <UnitDefinitions>
    <Unit name="m"><BaseUnit m="1"/></Unit>
    <Unit name="km/h"><BaseUnit m="1" s="-1" factor="0.2777777777777778"/></Unit>
    <Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>
    <Unit name="apples"/>
  </UnitDefinitions>
  <TypeDefinitions>
    <SimpleType name="Position"><Real unit="m" nominal="10" min="-5" max="1e3" relativeQuantity="true"/></SimpleType>
    <SimpleType name="Gear"><Enumeration><Item name="park" value="0"/><Item name="drive" value="7"/></Enumeration></SimpleType>
  </TypeDefinitions>
  <LogCategories><Category name="logAll"/><Category name="logStatusError"/></LogCategories>
  <DefaultExperiment startTime="0" stopTime="2.5" tolerance="1e-6" stepSize="0.01"/>
  <VendorAnnotations><Tool name="t"><anything at="all"/></Tool></VendorAnnotations>
  <ModelVariables>
    <ScalarVariable name="time" valueReference="0" causality="independent" variability="continuous"><Real/></ScalarVariable>
    <ScalarVariable name="x" valueReference="1" description="where it is" initial="exact"><Real declaredType="Position" start="0.5" max="7"/></ScalarVariable>
    <ScalarVariable name="der(x)" valueReference="2"><Real derivative="2" unit="km/h"/></ScalarVariable>
    <ScalarVariable name="force" valueReference="3" causality="input"><Real start="-INF"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="gear" valueReference="0" causality="parameter" variability="tunable"><Enumeration declaredType="Gear" start="7"/></ScalarVariable>
    <ScalarVariable name="count" valueReference="0" causality="parameter" variability="fixed"><Integer start="-3"/></ScalarVariable>
    <ScalarVariable name="on" valueReference="0" causality="input" variability="discrete"><Boolean start="true"/></ScalarVariable>
    <ScalarVariable name="file" valueReference="0" causality="parameter" variability="fixed"><String start="a  b &lt;c&gt;"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs><Unknown index="5" dependencies="2 4" dependenciesKind="constant dependent"/></Outputs>
    <Derivatives><Unknown index="3" dependencies=""/></Derivatives>
    <InitialUnknowns><Unknown index="3"/><Unknown index="5"/></InitialUnknowns>
  </ModelStructure>
</fmiModelDescription>
"#;

const THREE: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0.1" modelName="Arrays" instantiationToken="{3}">
  <CoSimulation modelIdentifier="arrays" canGetAndSetFMUState="true" canSerializeFMUState="true" hasEventMode="true"
    providesIntermediateUpdate="true" mightReturnEarlyFromDoStep="true" canReturnEarlyAfterIntermediateUpdate="true"
    fixedInternalStepSize="0.125" providesDirectionalDerivatives="true" providesAdjointDerivatives="true"
    providesEvaluateDiscreteStates="true" vendor:flag="yes" xmlns:vendor="http://example.com"/>
  <ModelExchange modelIdentifier="arrays" needsCompletedIntegratorStep="true"/>
  <ScheduledExecution modelIdentifier="arrays"/>
  <TypeDefinitions>
    <Float64Type name="Length" quantity="Length" nominal="3"/>
    <EnumerationType name="Mode"><Item name="a" value="-1"/><Item name="b" value="2"/></EnumerationType>
  </TypeDefinitions>
  <ModelVariables>
    <Float64 name="time" valueReference="100" causality="independent"/>
    <UInt64 name="n" valueReference="7" causality="structuralParameter" start="2"/>
    <Float64 name="u" valueReference="8" causality="input" start="1 2.5
      3" intermediateUpdate="true"><Dimension start="3"/><Alias name="second u" description="again"/></Float64>
    <Float64 name="x" valueReference="9" declaredType="Length" initial="exact" start="1"><Dimension valueReference="7"/><Dimension start="2"/></Float64>
    <Float64 name="der(x)" valueReference="11" derivative="9"><Dimension valueReference="7"/><Dimension start="2"/></Float64>
    <Float32 name="y" valueReference="12" causality="output"/>
    <Int8 name="i" valueReference="13" causality="parameter" start="-128"/>
    <Boolean name="b" valueReference="14" causality="output" initial="exact" start="true false"><Dimension start="2"/></Boolean>
    <String name="s" valueReference="15" causality="input"><Start value="a b"/><Start value=""/><Dimension start="2"/></String>
    <Binary name="bytes" valueReference="16" causality="input" mimeType="x"><Start value="666f6f"/></Binary>
    <Enumeration name="mode" valueReference="17" causality="parameter" variability="tunable" declaredType="Mode" start="-1"/>
    <Clock name="tick" valueReference="18" causality="input" intervalVariability="triggered"/>
    <Float64 name="clocked" valueReference="19" clocks="18" variability="discrete" previous="20"/>
    <Float64 name="memory" valueReference="20" clocks="18" variability="discrete" initial="exact" start="0"/>
    <Float64 name="z" valueReference="21"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="12" dependencies="8 9"/>
    <Output valueReference="14"/>
    <ContinuousStateDerivative valueReference="11" dependencies="8" dependenciesKind="constant"/>
    <ClockedState valueReference="19"/>
    <InitialUnknown valueReference="11"/>
    <EventIndicator valueReference="21"/>
  </ModelStructure>
</fmiModelDescription>
"#;

fn strict(text: &str) -> Description {
    let (description, warnings) = read(text.as_bytes(), Strictness::Strict).unwrap();
    assert_eq!(warnings, []);
    description
}

fn lenient(text: &str) -> (Description, Vec<Warning>) {
    read(text.as_bytes(), Strictness::Lenient).unwrap()
}

/// The one warning that a change of a text leads to; strict, it is an error with the same words.
fn warning(text: &str, from: &str, to: &str) -> (Description, String) {
    assert!(text.contains(from), "{from}");
    let changed = text.replacen(from, to, 1);
    let (description, warnings) = lenient(&changed);
    let shown: Vec<_> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), 1, "{shown:?}");
    let line = text[..text.find(from).unwrap()].matches('\n').count() as u32 + 1;
    // An element begins where its tag does, which may be lines above the attribute.
    assert!(
        warnings[0].line <= line && line <= warnings[0].line + 3,
        "{line}: {}",
        shown[0]
    );
    let error = read(changed.as_bytes(), Strictness::Strict).unwrap_err();
    assert_eq!(error.to_string(), shown[0]);
    (description, shown[0].clone())
}

fn refusal(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    read(text.replacen(from, to, 1).as_bytes(), Strictness::Lenient)
        .unwrap_err()
        .to_string()
}

#[test]
fn a_description_of_version_2_is_read_in_full() {
    let d = strict(TWO);
    assert_eq!(
        (d.version, d.fmi_version.as_str(), d.token.as_str()),
        (Version::Two, "2.0", "{1-2}")
    );
    assert_eq!(
        (d.model_name.as_str(), d.generation_tool.as_deref()),
        ("Spring and mass", Some("By hand"))
    );
    let (cs, me) = (d.co_simulation.unwrap(), d.model_exchange.unwrap());
    assert!(
        cs.variable_step
            && cs.interpolates_inputs
            && cs.state
            && !cs.serialization
            && cs.directional_derivatives
    );
    assert_eq!(
        (cs.output_derivatives, cs.model_identifier.as_str()),
        (2, "spring")
    );
    assert!(!me.needs_completed_step && !me.state);
    assert_eq!(d.log_categories, ["logAll", "logStatusError"]);
    assert_eq!(d.experiment.stop_time, Some(2.5));
    assert_eq!(
        (d.experiment.tolerance, d.experiment.step_size),
        (Some(1e-6), Some(0.01))
    );
    let kmh = &d.units[1];
    assert_eq!(
        (kmh.exponents, kmh.factor),
        (Some([0, 1, -1, 0, 0, 0, 0, 0]), 0.2777777777777778)
    );
    assert_eq!((d.units[2].offset, d.units[3].exponents), (273.15, None));
    assert_eq!(d.structure.outputs[0].variable, 4);
    assert_eq!(d.structure.outputs[0].dependencies, Some(vec![1, 3]));
    assert_eq!(d.structure.derivatives[0].dependencies, Some(vec![]));
    assert_eq!(
        (
            d.structure.indicator_count,
            &d.structure.initial_unknowns[..]
        ),
        (3, &[2, 4][..])
    );
}

#[test]
fn variables_of_version_2_take_what_they_lack_from_types_and_from_the_standard() {
    let d = strict(TWO);
    let variable = |name: &str| {
        d.variables
            .iter()
            .find(|variable| variable.name == name)
            .unwrap()
    };
    let x = variable("x");
    assert_eq!(
        (x.unit.as_deref(), x.nominal, x.min, x.max, x.relative),
        (Some("m"), Some(10.0), Some(-5.0), Some(7.0), true)
    );
    assert_eq!(
        (x.causality, x.variability, x.initial),
        (
            Causality::Local,
            Variability::Continuous,
            Some(Initial::Exact)
        )
    );
    assert_eq!(
        (x.description.as_deref(), x.line),
        (Some("where it is"), 22)
    );
    assert_eq!(variable("der(x)").derivative_of, Some(1));
    assert_eq!(variable("force").start, [Value::Float(f64::NEG_INFINITY)]);
    assert_eq!(
        (variable("force").initial, variable("y").initial),
        (None, Some(Initial::Calculated))
    );
    assert_eq!(
        variable("gear").items,
        [("park".to_owned(), 0), ("drive".to_owned(), 7)]
    );
    assert_eq!(
        (variable("gear").value_type, &variable("gear").start[..]),
        (ValueType::Enumeration, &[Value::Integer(7)][..])
    );
    assert_eq!(
        (variable("count").value_type, variable("count").initial),
        (ValueType::Int32, Some(Initial::Exact))
    );
    assert_eq!(variable("file").start, [Value::String("a  b <c>".into())]);
}

#[test]
fn a_description_of_version_3_is_read_in_full() {
    let d = strict(THREE);
    assert_eq!(
        (d.version, d.fmi_version.as_str(), d.token.as_str()),
        (Version::Three, "3.0.1", "{3}")
    );
    let (cs, me) = (d.co_simulation.unwrap(), d.model_exchange.unwrap());
    assert!(
        cs.state
            && cs.serialization
            && cs.event_mode
            && cs.intermediate_update
            && cs.might_return_early
    );
    assert!(
        cs.can_return_early
            && cs.directional_derivatives
            && cs.adjoint_derivatives
            && cs.evaluates_discrete_states
    );
    assert_eq!(
        (
            cs.fixed_internal_step,
            me.needs_completed_step,
            d.scheduled_execution
        ),
        (Some(0.125), true, true)
    );
    assert_eq!(d.structure.outputs[0].dependencies, Some(vec![2, 3]));
    assert_eq!(
        (
            d.structure.outputs[1].variable,
            &d.structure.outputs[1].dependencies
        ),
        (7, &None)
    );
    assert_eq!(
        (
            d.structure.derivatives[0].variable,
            &d.structure.event_indicators[..]
        ),
        (4, &[14][..])
    );
}

#[test]
fn variables_of_version_3_are_arrays_of_many_types() {
    let d = strict(THREE);
    let variable = |name: &str| {
        d.variables
            .iter()
            .find(|variable| variable.name == name)
            .unwrap()
    };
    let u = variable("u");
    assert_eq!(u.start, [1.0, 2.5, 3.0].map(Value::Float));
    assert_eq!(
        (&u.dimensions[..], &u.aliases[..], u.intermediate_update),
        (
            &[Dimension::Fixed(3)][..],
            &["second u".to_owned()][..],
            true
        )
    );
    assert_eq!(u.initial, Some(Initial::Exact));
    let n = variable("n");
    assert_eq!(
        (n.causality, n.variability, n.value_type),
        (
            Causality::StructuralParameter,
            Variability::Fixed,
            ValueType::UInt64
        )
    );
    assert_eq!(
        variable("x").dimensions,
        [Dimension::Parameter(7), Dimension::Fixed(2)]
    );
    assert_eq!(
        (variable("x").nominal, variable("der(x)").derivative_of),
        (Some(3.0), Some(3))
    );
    assert_eq!(
        (variable("y").value_type, variable("y").variability),
        (ValueType::Float32, Variability::Continuous)
    );
    assert_eq!(
        (variable("i").start[0].clone(), variable("i").variability),
        (Value::Integer(-128), Variability::Fixed)
    );
    assert_eq!(
        variable("b").start,
        [Value::Boolean(true), Value::Boolean(false)]
    );
    assert_eq!(variable("b").variability, Variability::Discrete);
    assert_eq!(
        variable("s").start,
        [Value::String("a b".into()), Value::String(String::new())]
    );
    assert_eq!(variable("bytes").start, [Value::Binary(b"foo".to_vec())]);
    assert_eq!(
        variable("mode").items,
        [("a".to_owned(), -1), ("b".to_owned(), 2)]
    );
    assert_eq!(
        (variable("tick").value_type, variable("tick").variability),
        (ValueType::Clock, Variability::Clock)
    );
    assert_eq!(variable("clocked").clocks, [18]);
}

#[test]
fn other_versions_are_refused_by_name() {
    let message = refusal(TWO, r#"fmiVersion="2.0""#, r#"fmiVersion="1.5""#);
    assert!(
        message.contains("version 1.5 of FMI, which is not supported; 1.0, 2.0 and 3.0 are"),
        "{message}"
    );
    assert!(refusal(TWO, r#"fmiVersion="2.0""#, r#"fmiVersion="4.0""#).contains("version 4.0"));
    let (description, _) = warning(TWO, r#"fmiVersion="2.0""#, r#"fmiVersion="2.0.3""#);
    assert_eq!(description.version, Version::Two);
    let (description, _) = warning(THREE, r#"fmiVersion="3.0.1""#, r#"fmiVersion="3.0-beta.2""#);
    assert_eq!(description.version, Version::Three);
    let (description, _) = warning(THREE, r#"fmiVersion="3.0.1""#, "");
    assert_eq!(description.version, Version::Three);
}

#[test]
fn spellings_of_other_tools_are_understood() {
    let (d, message) = warning(
        TWO,
        r#"canGetAndSetFMUstate="true""#,
        r#"canGetAndSetFMUState="true""#,
    );
    assert!(
        d.co_simulation.unwrap().state
            && message.contains("should be spelled `canGetAndSetFMUstate`"),
        "{message}"
    );
    let (d, message) = warning(
        TWO,
        r#"canGetAndSetFMUstate="true""#,
        r#"canGetAndSetFMUstate="True""#,
    );
    assert!(
        d.co_simulation.unwrap().state && message.contains("`True`"),
        "{message}"
    );
    let (d, _) = warning(
        TWO,
        "providesDirectionalDerivative=",
        "providesDirectionalDerivatives=",
    );
    assert!(d.co_simulation.unwrap().directional_derivatives);
    let (d, _) = warning(TWO, r#"start="0.5""#, r#"start="0,5""#);
    assert_eq!(d.variables[1].start, [Value::Float(0.5)]);
    let (d, _) = warning(TWO, r#"start="-3""#, r#"start="-3.0""#);
    assert_eq!(d.variables[6].start, [Value::Integer(-3)]);
    let (d, _) = warning(TWO, r#"causality="output""#, r#"causality="Output""#);
    assert_eq!(d.variables[4].causality, Causality::Output);
    let (d, message) = warning(TWO, r#"tolerance="1e-6""#, r#"tolerance="small""#);
    assert!(
        d.experiment.tolerance.is_none() && message.contains("a number was expected"),
        "{message}"
    );
}

#[test]
fn what_does_not_belong_is_ignored_with_a_warning() {
    let (_, message) = warning(
        TWO,
        "canInterpolateInputs=\"1\"",
        "canInterpolateInputs=\"1\" canFly=\"true\"",
    );
    assert!(
        message
            .ends_with("<CoSimulation> has no attribute `canFly` in the standard; it is ignored"),
        "{message}"
    );
    let (_, message) = warning(TWO, "<ModelStructure>", "<Unheard/><ModelStructure>");
    assert!(message.contains("holds no element `Unheard`"), "{message}");
    let (_, message) = warning(TWO, "<LogCategories>", "<LogCategories/><LogCategories>");
    assert!(message.contains("twice"), "{message}");
    strict(&TWO.replacen(
        "<ModelStructure>",
        "<x:Own xmlns:x='u'/><ModelStructure>",
        1,
    ));
    strict(&THREE.replacen("<Alias name", "<Annotations/><Alias name", 1));
}

#[test]
fn references_to_nothing_are_dropped() {
    let (d, message) = warning(TWO, r#"dependencies="2 4""#, r#"dependencies="2 40""#);
    assert!(
        d.structure.outputs[0].dependencies.is_none() && message.contains("taken as not declared"),
        "{message}"
    );
    let (d, _) = warning(THREE, r#"dependencies="8 9""#, r#"dependencies="8 1""#);
    assert!(d.structure.outputs[0].dependencies.is_none());
    let (d, _) = warning(
        TWO,
        r#"dependencies="2 4" dependenciesKind="constant dependent""#,
        r#"dependencies="2,4""#,
    );
    assert!(d.structure.outputs[0].dependencies.is_none());
    let (d, _) = warning(
        TWO,
        r#"<Derivatives><Unknown index="3""#,
        r#"<Derivatives><Unknown index="0""#,
    );
    assert!(d.structure.derivatives.is_empty());
    let (d, _) = warning(TWO, r#"declaredType="Position""#, r#"declaredType="Place""#);
    assert!(d.variables[1].unit.is_none());
    let (_, message) = warning(TWO, r#"unit="km/h""#, r#"unit="mph""#);
    assert!(
        message.contains("`mph` of `der(x)` is not defined"),
        "{message}"
    );
    let message = refusal(
        THREE,
        r#"<Dimension valueReference="7"/>"#,
        r#"<Dimension valueReference="77"/>"#,
    );
    assert!(
        message.contains("the value reference 77, which is not there"),
        "{message}"
    );
    let gone = lenient(&TWO.replace(r#"<Real derivative="2""#, r#"<Real derivative="20""#)).0;
    assert!(gone.variables[2].derivative_of.is_none() && gone.structure.derivatives.is_empty());
}

#[test]
fn outputs_that_the_structure_forgets_are_added() {
    let (d, message) = warning(THREE, "<Output valueReference=\"14\"/>", "");
    assert_eq!(
        (
            d.structure.outputs[1].variable,
            &d.structure.outputs[1].dependencies
        ),
        (7, &None)
    );
    assert!(message.contains("`b` is not listed"), "{message}");
    let start = TWO.find("<ModelStructure>").unwrap();
    let end = TWO.find("</ModelStructure>").unwrap() + "</ModelStructure>".len();
    let (d, warnings) = lenient(&format!("{}{}", &TWO[..start], &TWO[end..]));
    assert_eq!((d.structure.outputs.len(), warnings.len()), (1, 1));
    assert_eq!(
        (
            d.structure.outputs[0].variable,
            &d.structure.outputs[0].dependencies
        ),
        (4, &None)
    );
}

#[test]
fn start_values_are_where_they_must_be() {
    let (d, message) = warning(TWO, r#"<Real start="-INF"/>"#, "<Real/>");
    assert!(
        d.variables[3].start.is_empty() && message.contains("`force` has no start value"),
        "{message}"
    );
    let (_, message) = warning(
        TWO,
        r#"causality="output"><Real/>"#,
        r#"causality="output"><Real start="1"/>"#,
    );
    assert!(message.contains("although it is calculated"), "{message}");
    let (d, message) = warning(
        THREE,
        "<Dimension start=\"3\"/>",
        "<Dimension start=\"4\"/>",
    );
    assert!(
        d.variables[2].start.len() == 3 && message.contains("`4` elements but `3`"),
        "{message}"
    );
    let (changed, warnings) = lenient(&THREE.replace(r#"start="-128""#, r#"start="-129""#));
    assert!(
        changed.variables[6].start.is_empty()
            && warnings[0].message.contains("in the range of its type")
    );
    assert_eq!(warnings[0].line, 21);
}

#[test]
fn combinations_that_the_standard_forbids_are_repaired() {
    let (d, message) = warning(
        TWO,
        r#"causality="parameter" variability="tunable""#,
        r#"causality="parameter" variability="continuous""#,
    );
    assert!(
        d.variables[5].variability == Variability::Fixed
            && message.contains("does not allow the variability"),
        "{message}"
    );
    let (d, _) = warning(
        TWO,
        r#"causality="input"><Real"#,
        r#"causality="input" initial="exact"><Real"#,
    );
    assert_eq!(d.variables[3].initial, None);
    let (d, _) = warning(
        TWO,
        r#"variability="fixed"><Integer"#,
        r#"variability="fixed" initial="approx"><Integer"#,
    );
    assert_eq!(d.variables[6].initial, Some(Initial::Exact));
    let (d, _) = warning(TWO, r#"nominal="10""#, r#"nominal="0""#);
    assert_eq!(d.variables[1].nominal, None);
    let (_, message) = warning(TWO, r#"name="count""#, r#"name="gear""#);
    assert!(
        message.contains("two variables of the name `gear`"),
        "{message}"
    );
    let (_, message) = warning(
        THREE,
        r#"name="i" valueReference="13""#,
        r#"name="i" valueReference="12""#,
    );
    assert!(
        message.contains("share the value reference `12`"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_run_at_all_is_refused_with_its_line() {
    let message = refusal(
        TWO,
        r#"modelIdentifier="spring" canHandle"#,
        r#"modelIdentifier="../spring" canHandle"#,
    );
    assert!(
        message.starts_with("line 5 of modelDescription.xml: `modelIdentifier` is `../spring`"),
        "{message}"
    );
    let message = refusal(TWO, r#"valueReference="3""#, r#"valueReference="-3""#);
    assert!(
        message.starts_with("line 24 of modelDescription.xml: `valueReference` of `force` is `-3`"),
        "{message}"
    );
    assert!(refusal(TWO, "<Integer start=\"-3\"/>", "").contains("has no type"));
    assert!(refusal(TWO, "fmiModelDescription", "html").contains("not well-formed"));
    let error = read(b"<html/>", Strictness::Lenient)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("<fmiModelDescription> was expected"),
        "{error}"
    );
}

#[test]
fn what_is_no_xml_is_refused_with_its_line() {
    let message = refusal(TWO, "<ModelVariables>", "<ModelVariables");
    assert!(
        message.starts_with("line 21 of modelDescription.xml is not well-formed XML"),
        "{message}"
    );
    let cut = read(&TWO.as_bytes()[..TWO.len() / 2], Strictness::Lenient)
        .unwrap_err()
        .to_string();
    assert!(cut.contains("not well-formed"), "{cut}");
    assert!(matches!(
        read(b"", Strictness::Lenient),
        Err(DescriptionError::NotXml { .. })
    ));
    let bomb = r#"<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]><fmiModelDescription modelName="&c;"/>"#;
    let message = read(bomb.as_bytes(), Strictness::Lenient)
        .unwrap_err()
        .to_string();
    assert!(message.contains("document type definition"), "{message}");
}

#[test]
fn other_encodings_give_the_same_description() {
    let text = TWO.replace("where it is", "où c’est");
    let expected = lenient(&text).0;
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> = format!("\u{feff}{text}")
            .encode_utf16()
            .flat_map(order)
            .collect();
        assert_eq!(read(&bytes, Strictness::Lenient).unwrap().0, expected);
    }
    assert_eq!(lenient(&format!("\u{feff}{text}")).0, expected);
    let latin: Vec<u8> = text
        .replace("UTF-8", "ISO-8859-1")
        .chars()
        .map(|c| if c == '’' { 0x92 } else { c as u8 })
        .collect();
    let (read_back, warnings) = read(&latin, Strictness::Lenient).unwrap();
    assert_eq!((read_back, warnings.len()), (expected, 1));
}

#[test]
fn a_hundred_thousand_variables_are_read() {
    let mut text = String::from(
        "<fmiModelDescription fmiVersion='2.0' modelName='big' guid='g'><CoSimulation modelIdentifier='big'/><ModelVariables>\n",
    );
    let count = 100_000;
    for n in 0..count {
        text += &format!(
            "<ScalarVariable name='a.b[{n}].c' valueReference='{n}' causality='output'><Real unit='u{}' derivative='{}'/></ScalarVariable>\n",
            n % 50,
            (n + 7) % count + 1
        );
    }
    text += "</ModelVariables><ModelStructure><Outputs>\n";
    for n in 0..count / 2 {
        text += &format!(
            "<Unknown index='{}' dependencies='1 {} {}'/>\n",
            n + 1,
            n + 1,
            count
        );
    }
    text += "</Outputs></ModelStructure></fmiModelDescription>";
    // Work that grew with the square of their number would not come to an end.
    let (description, warnings) = lenient(&text);
    assert_eq!(
        (
            description.variables.len(),
            description.structure.outputs.len()
        ),
        (count, count)
    );
    assert!(warnings.len() < 10, "{}", warnings.len());
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), three: bool, is_strict: bool) {
        let mut bytes = if three { THREE } else { TWO }.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let strictness = if is_strict { Strictness::Strict } else { Strictness::Lenient };
        let _ = read(&bytes, strictness);
    }

    #[test]
    fn positions_are_always_those_of_variables(from in any::<prop::sample::Index>(), to in "[0-9 ]{0,4}", three: bool) {
        // Numbers are what positions come from, so they are what is changed.
        let text = if three { THREE } else { TWO };
        let numbers: Vec<_> = text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
        let at = numbers[from.index(numbers.len())];
        let changed = format!("{}{to}{}", &text[..at], &text[at + 1..]);
        if let Ok((d, _)) = read(changed.as_bytes(), Strictness::Lenient) {
            let count = d.variables.len();
            let unknowns = d.structure.outputs.iter().chain(&d.structure.derivatives);
            let positions = unknowns.flat_map(|unknown| unknown.dependencies.iter().flatten().chain([&unknown.variable]));
            prop_assert!(positions.chain(&d.structure.initial_unknowns).chain(&d.structure.event_indicators).all(|at| *at < count));
            prop_assert!(d.structure.derivatives.iter().all(|unknown| d.variables[unknown.variable].derivative_of.is_some_and(|at| at < count)));
        }
    }
}

#[test]
fn more_event_indicators_than_can_be_watched_are_refused() {
    let text = TWO.replace(
        "numberOfEventIndicators=\"3\"",
        "numberOfEventIndicators=\"4000000000\"",
    );
    let refused = read(text.as_bytes(), Strictness::Lenient).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("`4000000000`, more than the 100000 that are watched"),
        "{refused}"
    );
}

#[test]
fn an_element_with_countless_attributes_is_refused_at_once() {
    let many: String = (0..200_000).map(|k| format!(" a{k}='{k}'")).collect();
    let text = TWO.replace("<UnitDefinitions>", &format!("<UnitDefinitions{many}>"));
    let began = std::time::Instant::now();
    let refused = read(text.as_bytes(), Strictness::Lenient).unwrap_err();
    assert!(
        refused.to_string().contains("more than 1000 attributes"),
        "{refused}"
    );
    assert!(began.elapsed().as_secs() < 10);
    // Quotes in comments and texts are no attributes.
    let quotes = "'\"'".repeat(5000);
    let text = TWO.replace(
        "<UnitDefinitions>",
        &format!("<!-- {quotes} --><UnitDefinitions>"),
    );
    assert!(read(text.as_bytes(), Strictness::Lenient).is_ok());
}

#[test]
fn a_name_with_a_line_break_becomes_printable_with_a_warning() {
    let text = TWO.replace("name=\"force\"", "name=\"for&#10;ce&#x9b;\"");
    let (description, warnings) = read(text.as_bytes(), Strictness::Lenient).unwrap();
    let name = "for\u{fffd}ce\u{fffd}";
    assert!(description.variables.iter().any(|v| v.name == name));
    assert!(
        warnings
            .iter()
            .any(|w| w.to_string().contains("control characters"))
    );
}
